import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query"
import { useEffect } from "react"
import { isAppError } from "@/lib/contracts/errors"
import type { CreateTask, SessionView, TaskView } from "@/lib/contracts/task"
import { deleteJson, getJson, patchJson, postJson } from "../api"
import { connectionState, onConnectionState, onTaskChanged } from "../socket"
import { sessionQuery } from "./session"

export type TaskFilter = { q: string; hidden: boolean }
type TaskPage = { items: TaskView[]; next_cursor: string | null }

const listPath = ({ q, hidden }: TaskFilter, cursor: string | null) => {
  const search = new URLSearchParams({ limit: "100" })
  if (q) search.set("q", q)
  if (hidden) search.set("hidden", "true")
  if (cursor) search.set("cursor", cursor)
  return `/api/v1/tasks?${search}`
}

export const tasksQuery = (filter: TaskFilter) =>
  infiniteQueryOptions({
    queryKey: ["tasks", "list", filter],
    queryFn: ({ pageParam }) => getJson<TaskPage>(listPath(filter, pageParam)),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    select: (data) => data.pages.flatMap((page) => page.items).filter((task) => (task.hidden_at !== null) === filter.hidden),
  })
export const useTasks = (filter: TaskFilter) => useInfiniteQuery(tasksQuery(filter))
export const ALL_TASKS: TaskFilter = { q: "", hidden: false }

export const taskQuery = (taskId: number) =>
  queryOptions({ queryKey: ["tasks", "one", taskId], queryFn: () => getJson<TaskView>(`/api/v1/tasks/${taskId}`) })
export const useTask = (taskId: number) => useQuery(taskQuery(taskId))

/** Puts a fetched task wherever it is shown: its page, its sessions, and every list it is or should be in. */
export function placeTask(client: QueryClient, task: TaskView): void {
  client.setQueryData(taskQuery(task.id).queryKey, task)
  for (const session of task.sessions) client.setQueryData(sessionQuery(session.id).queryKey, session)
  changeLists(client, (pages, filter) => {
    const known = pages.some((page) => page.items.some((t) => t.id === task.id))
    if (known) return pages.map((page) => ({ ...page, items: page.items.map((t) => (t.id === task.id ? task : t)) }))
    const first = pages[0]
    return filter.q === "" && first ? [{ ...first, items: [task, ...first.items] }, ...pages.slice(1)] : pages
  })
}

function removeTask(client: QueryClient, taskId: number): void {
  changeLists(client, (pages) => pages.map((page) => ({ ...page, items: page.items.filter((t) => t.id !== taskId) })))
  client.removeQueries({ queryKey: taskQuery(taskId).queryKey })
}

function changeLists(client: QueryClient, change: (pages: TaskPage[], filter: TaskFilter) => TaskPage[]): void {
  for (const [key, data] of client.getQueriesData<InfiniteData<TaskPage>>({ queryKey: ["tasks", "list"] })) {
    if (data) client.setQueryData(key, { ...data, pages: change(data.pages, key[2] as TaskFilter) })
  }
}

/** A burst of changes of one task is fetched once. */
const REFRESH_DELAY_MS = 60
const scheduled = new Set<number>()

export function refreshTask(client: QueryClient, taskId: number): void {
  if (scheduled.has(taskId)) return
  scheduled.add(taskId)
  setTimeout(async () => {
    scheduled.delete(taskId)
    try {
      placeTask(client, await getJson<TaskView>(`/api/v1/tasks/${taskId}`))
    } catch (error) {
      if (isAppError(error) && error.code === "NOT_FOUND") removeTask(client, taskId)
    }
  }, REFRESH_DELAY_MS)
}

/** Keeps every list and view current: by the socket's word while connected, by asking again after a reconnect. */
export function useTaskSync(): void {
  const client = useQueryClient()
  useEffect(() => onTaskChanged((taskId) => refreshTask(client, taskId)), [client])
  useEffect(() => {
    let before = connectionState()
    return onConnectionState(() => {
      const now = connectionState()
      if (now === "connected" && before === "reconnecting") void client.invalidateQueries()
      before = now
    })
  }, [client])
}

export function useCreateTask() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (task: Partial<CreateTask> & { message: string }) =>
      postJson<{ task: TaskView; session: SessionView }>("/api/v1/tasks", task),
    onSuccess: ({ task }) => placeTask(client, task),
  })
}

export type TaskChange = { title?: string; hidden?: boolean; state?: "IN_PROGRESS" | "COMPLETED" }
export function usePatchTask(taskId: number) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (change: TaskChange) => patchJson<TaskView>(`/api/v1/tasks/${taskId}`, change),
    onSettled: () => refreshTask(client, taskId),
  })
}

export function useDeleteTask(taskId: number) {
  const client = useQueryClient()
  return useMutation({ mutationFn: () => deleteJson(`/api/v1/tasks/${taskId}`), onSuccess: () => removeTask(client, taskId) })
}

export function useCreateSession(taskId: number) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (request: { agent?: string; from_session_id?: string }) =>
      postJson<SessionView | { session: SessionView }>(`/api/v1/tasks/${taskId}/sessions`, request).then((answer) =>
        "session" in answer ? answer.session : answer,
      ),
    onSuccess: () => refreshTask(client, taskId),
  })
}
