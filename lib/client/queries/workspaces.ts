import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query"
import { call } from "../api"

export const workspacesQuery = (q: string, enabled: boolean) =>
  queryOptions({
    queryKey: ["workspaces", q],
    queryFn: () => call("GET /api/v1/workspaces", { query: { q } }),
    enabled,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
export const useWorkspaces = (q: string, enabled: boolean) => useQuery(workspacesQuery(q, enabled))
