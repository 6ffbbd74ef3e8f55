import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query"
import type { AdminFilter, AdminSession, AdminSessions } from "@/lib/contracts/admin"
import type { GivenBody } from "@/lib/contracts/api"
import { call } from "../api"

/** Status pages follow what happens at this pace while they are in sight; react-query rests when they are not. */
const EVERY_MS = 2000
/** Many pages are asked one after the other: then more seldom. */
const EVERY_MS_WHEN_LONG = 10_000
const LONG_PAGES = 3
const PAGE = 50

export type SessionsFilter = { filter: AdminFilter; q: string }

const sessionsPage = ({ filter, q }: SessionsFilter, cursor: string | null) => ({
  filter,
  limit: PAGE,
  q: q || undefined,
  cursor: cursor ?? undefined,
})

/** A session that moved between two pages while they were asked is shown once. */
function joined(pages: readonly AdminSessions[]): { items: AdminSession[]; counts: AdminSessions["counts"] | undefined } {
  const items = new Map(pages.flatMap((page) => page.items).map((session) => [session.session_id, session]))
  return { items: [...items.values()], counts: pages[0]?.counts }
}

export const adminSessionsQuery = (filter: SessionsFilter) =>
  infiniteQueryOptions({
    queryKey: ["admin", "sessions", filter],
    queryFn: ({ pageParam }) => call("GET /api/v1/admin/sessions", { query: sessionsPage(filter, pageParam) }),
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
    queryFn: () => call("GET /api/v1/admin/recoveries").then((page) => page.items),
    refetchInterval: EVERY_MS_WHEN_LONG,
  })
export const useRecoveries = () => useQuery(recoveriesQuery())

export const archivesQuery = () =>
  queryOptions({
    queryKey: ["admin", "archives"],
    queryFn: () => call("GET /api/v1/admin/archives"),
    refetchInterval: EVERY_MS,
  })
export const useAdminArchives = () => useQuery(archivesQuery())

export function useArchiveExpiredNow() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => call("POST /api/v1/admin/archives/run"),
    onSettled: () => client.invalidateQueries({ queryKey: ["admin", "archives"] }),
  })
}

export const executorsQuery = () =>
  queryOptions({
    queryKey: ["admin", "executors"],
    queryFn: () => call("GET /api/v1/admin/executors").then((page) => page.items),
    refetchInterval: EVERY_MS,
  })
export const useExecutors = () => useQuery(executorsQuery())

export function useActOnSession() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: GivenBody<"POST /api/v1/admin/sessions">) => call("POST /api/v1/admin/sessions", { body }),
    onSettled: () => client.invalidateQueries({ queryKey: ["admin"] }),
  })
}
