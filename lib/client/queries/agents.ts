import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { AgentInfo, AgentSettings, CustomAgent } from "@/lib/contracts/agents"
import { deleteJson, getJson, postJson, putJson } from "../api"

/** While something is being installed, its progress is looked at. */
const INSTALLING_LOOK_MS = 1000
const whileInstalling = (agents: readonly AgentInfo[] | undefined) =>
  agents?.some((agent) => agent.install?.state === "running") ? INSTALLING_LOOK_MS : false

export const agentsQuery = () =>
  queryOptions({
    queryKey: ["agents"],
    queryFn: () => getJson<{ items: AgentInfo[] }>("/api/v1/agents").then((page) => page.items),
    staleTime: 60_000,
    refetchInterval: ({ state }) => whileInstalling(state.data),
  })
export const useAgents = () => useQuery(agentsQuery())

export const agentSettingsQuery = () =>
  queryOptions({
    queryKey: ["agents", "settings"],
    queryFn: () => getJson<{ items: AgentSettings[] }>("/api/v1/admin/agents").then((page) => page.items),
    refetchInterval: ({ state }) => whileInstalling(state.data),
  })
export const useAgentSettings = () => useQuery(agentSettingsQuery())

export function useAgentName(): (id: string) => string {
  const { data } = useAgents()
  return (id) => data?.find((agent) => agent.id === id)?.name ?? id
}

/** Every change of the agents is seen wherever they are listed. */
function useAgentChange<T>(change: (input: T) => Promise<unknown>) {
  const client = useQueryClient()
  return useMutation({ mutationFn: change, onSuccess: () => client.invalidateQueries(agentsQuery()) })
}

export const useInstallAgent = () => useAgentChange((id: string) => postJson(`/api/v1/agents/${id}/install`, {}))
export const useSaveAgent = () =>
  useAgentChange(({ agent, isNew }: { agent: CustomAgent; isNew: boolean }) =>
    isNew ? postJson("/api/v1/admin/agents", agent) : putJson(`/api/v1/admin/agents/${agent.id}`, agent),
  )
export const useRemoveAgent = () => useAgentChange((id: string) => deleteJson(`/api/v1/admin/agents/${id}`))
export const usePutVariable = () =>
  useAgentChange(({ id, ...variable }: { id: string; name: string; value: string | null }) =>
    putJson(`/api/v1/admin/agents/${id}/variables`, variable),
  )
