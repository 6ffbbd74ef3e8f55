import { z } from "zod"
import { AgentInfo, AgentSettings, CustomAgent, PutVariable } from "../../lib/contracts/agents"
import { McpServerView, PutMcpServer } from "../../lib/contracts/mcp"
import type { Call } from "./openapi"

const items = (schema: z.ZodType) => z.object({ items: z.array(schema) })

/** Agents: what everybody may choose, and what admins set up. */
export const agentCalls: Call[] = [
  { method: "get", path: "/agents", summary: "Agents, and whether they are on this machine", status: 200, answer: items(AgentInfo) },
  {
    method: "post",
    path: "/agents/{agentId}/install",
    summary: "Bring an agent's programs from npm; the list of agents tells how far it is",
    status: 202,
  },
  {
    method: "get",
    path: "/admin/agents",
    summary: "Agents with the names of their variables, never their values",
    status: 200,
    answer: items(AgentSettings),
  },
  { method: "post", path: "/admin/agents", summary: "Add an agent: any command", body: CustomAgent, status: 204 },
  { method: "put", path: "/admin/agents/{agentId}", summary: "Change an agent that was added", body: CustomAgent, status: 204 },
  { method: "delete", path: "/admin/agents/{agentId}", summary: "Remove an agent that was added, and its variables", status: 204 },
  {
    method: "put",
    path: "/admin/agents/{agentId}/variables",
    summary: "Set or take away a variable that only this agent gets",
    body: PutVariable,
    status: 204,
  },
  {
    method: "get",
    path: "/admin/mcp-servers",
    summary: "MCP servers that agents are given, with the names of their keys, never the values",
    status: 200,
    answer: items(McpServerView),
  },
  { method: "put", path: "/admin/mcp-servers/{name}", summary: "Add or replace an MCP server", body: PutMcpServer, status: 204 },
  { method: "delete", path: "/admin/mcp-servers/{name}", summary: "Take an MCP server away", status: 204 },
]
