import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { GivenBody } from "@/lib/contracts/api"
import { call } from "../api"

const mcpServersQuery = () =>
  queryOptions({ queryKey: ["mcp-servers"], queryFn: () => call("GET /api/v1/admin/mcp-servers").then((page) => page.items) })
export const useMcpServers = () => useQuery(mcpServersQuery())

function useChange<T>(change: (input: T) => Promise<unknown>) {
  const client = useQueryClient()
  return useMutation({ mutationFn: change, onSuccess: () => client.invalidateQueries(mcpServersQuery()) })
}
export type SavedMcpServer = GivenBody<"PUT /api/v1/admin/mcp-servers/{name}"> & { name: string }
export const useSaveMcpServer = () =>
  useChange(({ name, ...body }: SavedMcpServer) => call("PUT /api/v1/admin/mcp-servers/{name}", { params: { name }, body }))
export const useRemoveMcpServer = () => useChange((name: string) => call("DELETE /api/v1/admin/mcp-servers/{name}", { params: { name } }))
