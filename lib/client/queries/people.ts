import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { GivenBody } from "@/lib/contracts/api"
import { call } from "../api"

export const peopleQuery = () =>
  queryOptions({ queryKey: ["people"], queryFn: () => call("GET /api/v1/admin/users").then((page) => page.items) })
export const usePeople = () => useQuery(peopleQuery())

export function usePatchPerson() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: GivenBody<"PATCH /api/v1/admin/users">) => call("PATCH /api/v1/admin/users", { body }),
    onSuccess: () => client.invalidateQueries(peopleQuery()),
  })
}

export const useInvite = () =>
  useMutation({
    mutationFn: (body: GivenBody<"POST /api/v1/admin/invitations">) => call("POST /api/v1/admin/invitations", { body }),
  })
