import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query"
import type { z } from "zod"
import type {
  AdminAct,
  AdminArchives,
  AdminFilter,
  AdminSession,
  AdminSessions,
  ArchiveRun,
  AdminExecutor as Executor,
  Recovery,
} from "@/lib/contracts/admin"
import { getJson, postJson } from "../api"

/** Status pages follow what happens at this pace while they are in sight; react-query rests when they are not. */
const EVERY_MS = 2000
/** Many pages are asked one after the other: then more seldom. */
const EVERY_MS_WHEN_LONG = 10_000
const LONG_PAGES = 3
const PAGE = 50

export type AdminExecutor = z.infer<typeof Executor>
export type SessionsFilter = { filter: AdminFilter; q: string }

const sessionsPath = ({ filter, q }: SessionsFilter, cursor: string | null) => {
  const search = new URLSearchParams({ filter, limit: String(PAGE) })
  if (q) search.set("q", q)
  if (cursor) search.set("cursor", cursor)
  return `/api/v1/admin/sessions?${search}`
}

/** A session that moved between two pages while they were asked is shown once. */
function joined(pages: readonly AdminSessions[]): { items: AdminSession[]; counts: AdminSessions["counts"] | undefined } {
  const items = new Map(pages.flatMap((page) => page.items).map((session) => [session.session_id, session]))
  return { items: [...items.values()], counts: pages[0]?.counts }
}

export const adminSessionsQuery = (filter: SessionsFilter) =>
  infiniteQueryOptions({
    queryKey: ["admin", "sessions", filter],
    queryFn: ({ pageParam }) => getJson<AdminSessions>(sessionsPath(filter, pageParam)),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > LONG_PAGES ? EVERY_MS_WHEN_LONG : EVERY_MS),
    select: (data) => joined(data.pages),
  })
export const useAdminSessions = (filter: SessionsFilter) => useInfiniteQuery(adminSessionsQuery(filter))

export const recoveriesQuery = () =>
  queryOptions({
    queryKey: ["admin", "recoveries"],
    queryFn: () => getJson<{ items: Recovery[] }>("/api/v1/admin/recoveries").then((page) => page.items),
    refetchInterval: EVERY_MS_WHEN_LONG,
  })
export const useRecoveries = () => useQuery(recoveriesQuery())

export const archivesQuery = () =>
  queryOptions({
    queryKey: ["admin", "archives"],
    queryFn: () => getJson<AdminArchives>("/api/v1/admin/archives"),
    refetchInterval: EVERY_MS,
  })
export const useAdminArchives = () => useQuery(archivesQuery())

export function useArchiveExpiredNow() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => postJson<ArchiveRun>("/api/v1/admin/archives/run", {}),
    onSettled: () => client.invalidateQueries({ queryKey: ["admin", "archives"] }),
  })
}

export const executorsQuery = () =>
  queryOptions({
    queryKey: ["admin", "executors"],
    queryFn: () => getJson<{ items: AdminExecutor[] }>("/api/v1/admin/executors").then((page) => page.items),
    refetchInterval: EVERY_MS,
  })
export const useExecutors = () => useQuery(executorsQuery())

export function useActOnSession() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (act: z.infer<typeof AdminAct>) => postJson<unknown>("/api/v1/admin/sessions", act),
    onSettled: () => client.invalidateQueries({ queryKey: ["admin"] }),
  })
}
