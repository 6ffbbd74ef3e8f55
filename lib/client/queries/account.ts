import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { Me } from "@/lib/contracts/task"
import { deleteJson, getJson, postJson } from "../api"

export const meQuery = () => queryOptions({ queryKey: ["me"], queryFn: () => getJson<Me>("/api/v1/me"), staleTime: 300_000 })
export const useMe = () => useQuery(meQuery())

export const useChangePassword = () =>
  useMutation({ mutationFn: (change: { current_password: string; new_password: string }) => postJson<void>("/api/v1/me/password", change) })

export type ApiToken = { id: string; name: string; created_at: string; last_used_at?: string | null }
export const tokensQuery = () =>
  queryOptions({ queryKey: ["tokens"], queryFn: () => getJson<{ items: ApiToken[] }>("/api/v1/tokens").then((page) => page.items) })
export const useTokens = () => useQuery(tokensQuery())

export function useCreateToken() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (name: string) => postJson<ApiToken & { token: string }>("/api/v1/tokens", { name }),
    onSuccess: () => client.invalidateQueries(tokensQuery()),
  })
}

export function useDeleteToken() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => deleteJson(`/api/v1/tokens?id=${encodeURIComponent(id)}`),
    onSuccess: () => client.invalidateQueries(tokensQuery()),
  })
}
