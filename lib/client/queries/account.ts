import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { GivenBody } from "@/lib/contracts/api"
import { call } from "../api"

export const meQuery = () => queryOptions({ queryKey: ["me"], queryFn: () => call("GET /api/v1/me"), staleTime: 300_000 })
export const useMe = () => useQuery(meQuery())

export const useChangePassword = () =>
  useMutation({ mutationFn: (body: GivenBody<"POST /api/v1/me/password">) => call("POST /api/v1/me/password", { body }) })

export const tokensQuery = () =>
  queryOptions({ queryKey: ["tokens"], queryFn: () => call("GET /api/v1/tokens").then((page) => page.items) })
export const useTokens = () => useQuery(tokensQuery())

export function useCreateToken() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: GivenBody<"POST /api/v1/tokens">) => call("POST /api/v1/tokens", { body }),
    onSuccess: () => client.invalidateQueries(tokensQuery()),
  })
}

export function useDeleteToken() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => call("DELETE /api/v1/tokens", { query: { id } }),
    onSuccess: () => client.invalidateQueries(tokensQuery()),
  })
}
