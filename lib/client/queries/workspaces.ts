import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query"
import { getJson } from "../api"

export type Workspaces = { roots: string[]; items: { path: string; name: string }[] }

export const workspacesQuery = (q: string, enabled: boolean) =>
  queryOptions({
    queryKey: ["workspaces", q],
    queryFn: () => getJson<Workspaces>(`/api/v1/workspaces?q=${encodeURIComponent(q)}`),
    enabled,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
export const useWorkspaces = (q: string, enabled: boolean) => useQuery(workspacesQuery(q, enabled))
