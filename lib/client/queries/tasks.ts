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
import type { AnswerOf, GivenBody } from "@/lib/contracts/api"
import { isAppError } from "@/lib/contracts/errors"
import type { TaskView } from "@/lib/contracts/task"
import { call } from "../api"
import { connectionState, onConnectionState, onTaskChanged } from "../socket"
import { sessionQuery } from "./session"

export type TaskFilter = { q: string; hidden: boolean }
type TaskPage = AnswerOf<"GET /api/v1/tasks">

const fetchPage = ({ q, hidden }: TaskFilter, cursor: string | null) =>
  call("GET /api/v1/tasks", {
    query: { limit: 100, q: q || undefined, hidden: hidden ? "true" : undefined, cursor: cursor ?? undefined },
  })
const fetchTask = (taskId: number) => call("GET /api/v1/tasks/{taskId}", { params: { taskId } })

export const tasksQuery = (filter: TaskFilter) =>
  infiniteQueryOptions({
    queryKey: ["tasks", "list", filter],
    queryFn: ({ pageParam }) => fetchPage(filter, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    select: (data) => data.pages.flatMap((page) => page.items).filter((task) => (task.hidden_at !== null) === filter.hidden),
  })
export const useTasks = (filter: TaskFilter) => useInfiniteQuery(tasksQuery(filter))
export const ALL_TASKS: TaskFilter = { q: "", hidden: false }

export const taskQuery = (taskId: number) => queryOptions({ queryKey: ["tasks", "one", taskId], queryFn: () => fetchTask(taskId) })
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
      placeTask(client, await fetchTask(taskId))
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
    mutationFn: (body: GivenBody<"POST /api/v1/tasks">) => call("POST /api/v1/tasks", { body }),
    onSuccess: ({ task }) => placeTask(client, task),
  })
}

export function usePatchTask(taskId: number) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: GivenBody<"PATCH /api/v1/tasks/{taskId}">) => call("PATCH /api/v1/tasks/{taskId}", { params: { taskId }, body }),
    onSettled: () => refreshTask(client, taskId),
  })
}

export function useDeleteTask(taskId: number) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => call("DELETE /api/v1/tasks/{taskId}", { params: { taskId } }),
    onSuccess: () => removeTask(client, taskId),
  })
}

export function useCreateSession(taskId: number) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: GivenBody<"POST /api/v1/tasks/{taskId}/sessions">) =>
      call("POST /api/v1/tasks/{taskId}/sessions", { params: { taskId }, body }),
    onSuccess: () => refreshTask(client, taskId),
  })
}
