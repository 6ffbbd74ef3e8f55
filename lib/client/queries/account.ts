import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { GivenBody } from "@/lib/contracts/api"
import { call } from "../api"

export const meQuery = () => queryOptions({ queryKey: ["me"], queryFn: () => call("GET /api/v1/me"), staleTime: 300_000 })
export const useMe = () => useQuery(meQuery())

/** Why this user may start nothing in the standalone runtime; null when they may, undefined while that is unknown. */
export function useStandaloneRefusal(): string | null | undefined {
  const access = useMe().data?.runtimes.standalone
  if (!access) return undefined
  return access.allowed ? null : (access.reason ?? "You may not run agents on this machine. Ask an admin.")
}

const tokensQuery = () => queryOptions({ queryKey: ["tokens"], queryFn: () => call("GET /api/v1/tokens").then((page) => page.items) })
export const useTokens = () => useQuery(tokensQuery())

const signInsQuery = () =>
  queryOptions({ queryKey: ["sign-ins"], queryFn: () => call("GET /api/v1/me/sign-ins").then((page) => page.items) })
export const useSignIns = () => useQuery(signInsQuery())

const gitCredentialsQuery = () =>
  queryOptions({ queryKey: ["git-credentials"], queryFn: () => call("GET /api/v1/me/git-credentials").then((page) => page.items) })
export const useGitCredentials = () => useQuery(gitCredentialsQuery())

/** Shows the list as it is after the change, whether that succeeded or not. */
function useListChange<T, A>(change: (input: T) => Promise<A>, ...lists: readonly { queryKey: readonly unknown[] }[]) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSettled: () => Promise.all(lists.map(({ queryKey }) => client.invalidateQueries({ queryKey }))),
  })
}

/** It also ends other sign-ins, and may revoke tokens. */
export const useChangePassword = () =>
  useListChange((body: GivenBody<"POST /api/v1/me/password">) => call("POST /api/v1/me/password", { body }), signInsQuery(), tokensQuery())

export const useCreateToken = () =>
  useListChange((body: GivenBody<"POST /api/v1/tokens">) => call("POST /api/v1/tokens", { body }), tokensQuery())
export const useDeleteToken = () => useListChange((id: string) => call("DELETE /api/v1/tokens", { query: { id } }), tokensQuery())

/** `null`: every browser but this one. */
export const useEndSignIn = () =>
  useListChange((id: string | null) => call("DELETE /api/v1/me/sign-ins", { query: { id: id ?? undefined } }), signInsQuery())

export const useSaveGitCredential = () =>
  useListChange(
    (body: GivenBody<"PUT /api/v1/me/git-credentials">) => call("PUT /api/v1/me/git-credentials", { body }),
    gitCredentialsQuery(),
  )
export const useRemoveGitCredential = () =>
  useListChange((host: string) => call("DELETE /api/v1/me/git-credentials", { query: { host } }), gitCredentialsQuery())

const signInMethodsQuery = () =>
  queryOptions({ queryKey: ["sign-in-methods"], queryFn: () => call("GET /api/v1/sign-in-methods"), staleTime: 300_000 })
/** The host of the provider users may sign in with; null where there is none, and while that is unknown. */
export const useProviderHost = (): string | null => useQuery(signInMethodsQuery()).data?.oidc?.host ?? null

const identitiesQuery = () =>
  queryOptions({ queryKey: ["identities"], queryFn: () => call("GET /api/v1/me/identities").then((page) => page.items) })
export const useIdentities = () => useQuery(identitiesQuery())
export const useConnectIdentity = () =>
  useMutation({ mutationFn: (password: string) => call("POST /api/v1/me/identities", { body: { current_password: password } }) })
export const useRemoveIdentity = () =>
  useListChange((id: string) => call("DELETE /api/v1/me/identities", { query: { id } }), identitiesQuery())
