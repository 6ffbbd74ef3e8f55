import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { Role } from "@/lib/contracts/task"
import { getJson, patchJson, postJson } from "../api"

export type Person = { id: string; email: string; name: string; role: Role; created_at: string; disabled_at: string | null }

export const peopleQuery = () =>
  queryOptions({ queryKey: ["people"], queryFn: () => getJson<{ items: Person[] }>("/api/v1/admin/users").then((page) => page.items) })
export const usePeople = () => useQuery(peopleQuery())

export function usePatchPerson() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (change: { id: string; role?: Role; disabled?: boolean }) => patchJson<Person>("/api/v1/admin/users", change),
    onSuccess: () => client.invalidateQueries(peopleQuery()),
  })
}

export const useInvite = () =>
  useMutation({
    mutationFn: (invitation: { email: string; role: Role }) => postJson<{ link: string }>("/api/v1/admin/invitations", invitation),
  })
