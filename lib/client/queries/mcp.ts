import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { McpServerDefinition, McpServerView } from "@/lib/contracts/mcp"
import { deleteJson, getJson, putJson } from "../api"

const PATH = "/api/v1/admin/mcp-servers"

const mcpServersQuery = () =>
  queryOptions({ queryKey: ["mcp-servers"], queryFn: () => getJson<{ items: McpServerView[] }>(PATH).then((page) => page.items) })
export const useMcpServers = () => useQuery(mcpServersQuery())

function useChange<T>(change: (input: T) => Promise<unknown>) {
  const client = useQueryClient()
  return useMutation({ mutationFn: change, onSuccess: () => client.invalidateQueries(mcpServersQuery()) })
}
export type SavedMcpServer = { name: string; server: McpServerDefinition; values: Record<string, string> }
export const useSaveMcpServer = () => useChange(({ name, ...body }: SavedMcpServer) => putJson(`${PATH}/${encodeURIComponent(name)}`, body))
export const useRemoveMcpServer = () => useChange((name: string) => deleteJson(`${PATH}/${encodeURIComponent(name)}`))
