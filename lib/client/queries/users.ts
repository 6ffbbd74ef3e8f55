import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { GivenBody } from "@/lib/contracts/api"
import { call } from "../api"

export const usersQuery = () =>
  queryOptions({ queryKey: ["admin", "users"], queryFn: () => call("GET /api/v1/admin/users").then((page) => page.items) })
export const useUsers = () => useQuery(usersQuery())

export const invitationsQuery = () =>
  queryOptions({ queryKey: ["admin", "invitations"], queryFn: () => call("GET /api/v1/admin/invitations").then((page) => page.items) })
export const useInvitations = () => useQuery(invitationsQuery())

/** A change of a user may revoke their invitations as well. */
function useUserChange<T, A>(change: (input: T) => Promise<A>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSettled: () => Promise.all([client.invalidateQueries(usersQuery()), client.invalidateQueries(invitationsQuery())]),
  })
}

export const usePatchUser = () =>
  useUserChange((body: GivenBody<"PATCH /api/v1/admin/users">) => call("PATCH /api/v1/admin/users", { body }))
export const useSignUserOut = () =>
  useUserChange((userId: string) => call("POST /api/v1/admin/users/{userId}/sign-out", { params: { userId } }))
export const useInvite = () =>
  useUserChange((body: GivenBody<"POST /api/v1/admin/invitations">) => call("POST /api/v1/admin/invitations", { body }))
export const useRevokeInvitation = () => useUserChange((id: string) => call("DELETE /api/v1/admin/invitations", { query: { id } }))

export const useCreatePasswordReset = () =>
  useMutation({
    mutationFn: (userId: string) => call("POST /api/v1/admin/users/{userId}/password-reset", { params: { userId } }),
  })

const settingsQuery = () => queryOptions({ queryKey: ["admin", "settings"], queryFn: () => call("GET /api/v1/admin/settings") })
export const useServerSettings = () => useQuery(settingsQuery())

export function usePatchServerSettings() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: GivenBody<"PATCH /api/v1/admin/settings">) => call("PATCH /api/v1/admin/settings", { body }),
    onSuccess: (settings) => client.setQueryData(settingsQuery().queryKey, settings),
  })
}
