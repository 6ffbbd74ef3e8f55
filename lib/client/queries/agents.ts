import { queryOptions, useQuery } from "@tanstack/react-query"
import type { AgentInfo } from "@/lib/contracts/task"
import { getJson } from "../api"

export const agentsQuery = () =>
  queryOptions({
    queryKey: ["agents"],
    queryFn: () => getJson<{ items: AgentInfo[] }>("/api/v1/agents").then((page) => page.items),
    staleTime: 60_000,
  })

export const useAgents = () => useQuery(agentsQuery())

export function useAgentName(): (id: string) => string {
  const { data } = useAgents()
  return (id) => data?.find((agent) => agent.id === id)?.name ?? id
}
