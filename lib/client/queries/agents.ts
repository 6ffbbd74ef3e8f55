import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { AgentInfo, CustomAgent } from "@/lib/contracts/agents"
import { call } from "../api"

/** While something is being installed, its progress is looked at. */
const INSTALLING_LOOK_MS = 1000
const whileInstalling = (agents: readonly AgentInfo[] | undefined) =>
  agents?.some((agent) => agent.install?.state === "running") ? INSTALLING_LOOK_MS : false

export const agentsQuery = () =>
  queryOptions({
    queryKey: ["agents"],
    queryFn: () => call("GET /api/v1/agents").then((page) => page.items),
    staleTime: 60_000,
    refetchInterval: ({ state }) => whileInstalling(state.data),
  })
export const useAgents = () => useQuery(agentsQuery())

export const agentSettingsQuery = () =>
  queryOptions({
    queryKey: ["agents", "settings"],
    queryFn: () => call("GET /api/v1/admin/agents").then((page) => page.items),
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

export const useInstallAgent = () =>
  useAgentChange((agentId: string) => call("POST /api/v1/agents/{agentId}/install", { params: { agentId } }))
export const useSaveAgent = () =>
  useAgentChange(({ agent, isNew }: { agent: CustomAgent; isNew: boolean }) =>
    isNew
      ? call("POST /api/v1/admin/agents", { body: agent })
      : call("PUT /api/v1/admin/agents/{agentId}", { params: { agentId: agent.id }, body: agent }),
  )
export const useRemoveAgent = () =>
  useAgentChange((agentId: string) => call("DELETE /api/v1/admin/agents/{agentId}", { params: { agentId } }))
export const usePutVariable = () =>
  useAgentChange(({ id, ...body }: { id: string; name: string; value: string | null }) =>
    call("PUT /api/v1/admin/agents/{agentId}/variables", { params: { agentId: id }, body }),
  )
