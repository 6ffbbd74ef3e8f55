import { z } from "zod"
import { AgentInfo, AgentSettings, CustomAgent, PutVariable } from "../agents"
import { McpServerName, McpServerView, PutMcpServer } from "../mcp"
import { AgentId } from "../task"
import type { Call } from "./call"

const OfAgent = z.object({ agentId: AgentId })
const OfMcpServer = z.object({ name: McpServerName })

export const agentCalls = {
  "GET /api/v1/agents": {
    summary: "List agents, and whether they are on this machine",
    access: "user",
    status: 200,
    answer: z.object({ items: z.array(AgentInfo) }),
  },
  "POST /api/v1/agents/{agentId}/install": {
    summary: "Install an agent's programs from npm; the list of agents shows the progress",
    access: "admin",
    params: OfAgent,
    status: 202,
    answer: z.object({}),
    errors: ["CONFLICT", "AGENT_UNAVAILABLE"],
    audit: "agent.installed",
  },
  "GET /api/v1/admin/agents": {
    summary: "List agents with the names of their variables, never their values",
    access: "admin",
    status: 200,
    answer: z.object({ items: z.array(AgentSettings) }),
  },
  "POST /api/v1/admin/agents": {
    summary: "Add an agent: any command",
    access: "admin",
    body: CustomAgent,
    status: 204,
    errors: ["CONFLICT"],
    audit: "agent.added",
  },
  "PUT /api/v1/admin/agents/{agentId}": {
    summary: "Change an agent that was added",
    access: "admin",
    params: OfAgent,
    body: CustomAgent,
    status: 204,
    audit: "agent.changed",
  },
  "DELETE /api/v1/admin/agents/{agentId}": {
    summary: "Remove an agent that was added, and its variables",
    access: "admin",
    params: OfAgent,
    status: 204,
    audit: "agent.removed",
  },
  "PUT /api/v1/admin/agents/{agentId}/variables": {
    summary: "Set or remove a variable that only this agent gets",
    access: "admin",
    params: OfAgent,
    body: PutVariable,
    status: 204,
    audit: "agent.variable_changed",
  },
  "GET /api/v1/admin/mcp-servers": {
    summary: "List MCP servers that agents are given, with the names of their keys, never the values",
    access: "admin",
    status: 200,
    answer: z.object({ items: z.array(McpServerView) }),
  },
  "PUT /api/v1/admin/mcp-servers/{name}": {
    summary: "Add or replace an MCP server",
    access: "admin",
    params: OfMcpServer,
    body: PutMcpServer,
    status: 204,
    audit: "mcp_server.changed",
  },
  "DELETE /api/v1/admin/mcp-servers/{name}": {
    summary: "Remove an MCP server",
    access: "admin",
    params: OfMcpServer,
    status: 204,
    audit: "mcp_server.removed",
  },
} satisfies Record<string, Call>
