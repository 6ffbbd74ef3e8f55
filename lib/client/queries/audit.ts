import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery } from "@tanstack/react-query"
import type { GivenQuery } from "@/lib/contracts/api"
import { call, pathOf } from "../api"

const PAGE = 50

export type AuditFilters = GivenQuery<"GET /api/v1/admin/audit/export">

const auditQuery = (filters: AuditFilters) =>
  infiniteQueryOptions({
    queryKey: ["admin", "audit", filters],
    queryFn: ({ pageParam }) => call("GET /api/v1/admin/audit", { query: { ...filters, limit: PAGE, cursor: pageParam ?? undefined } }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    select: (data) => data.pages.flatMap((page) => page.items),
  })
export const useAudit = (filters: AuditFilters) => useInfiniteQuery(auditQuery(filters))

/** The browser downloads it itself: the log may be larger than a page should hold. */
export const auditExportPath = (filters: AuditFilters) => pathOf("GET /api/v1/admin/audit/export", { query: filters })
