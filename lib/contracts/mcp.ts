import { z } from "zod"

const argument = z
  .string()
  .max(4096)
  .regex(/^[^\0]*$/, "must not contain a NUL")

/** How an MCP server is reached: a program that the agent starts, or an address. Its keys are apart, for they are never shown. */
export const McpServerDefinition = z.discriminatedUnion("transport", [
  z.object({
    transport: z.literal("stdio"),
    command: argument.trim().min(1, "must not be empty"),
    args: z.array(argument).max(100).default([]),
  }),
  z.object({
    transport: z.enum(["http", "sse"]),
    url: z.url({ protocol: /^https?$/, error: "must be an http or https address" }).max(2048),
  }),
])
export type McpServerDefinition = z.infer<typeof McpServerDefinition>

export const McpServerName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, "must be a name of letters, digits, dots, dashes and underscores")

/** PUT /api/v1/admin/mcp-servers/{name}. `values`: environment variables of a program, headers of an address; all of them, each time. */
export const PutMcpServer = z.object({
  server: McpServerDefinition,
  values: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,99}$/, "must be a name of letters, digits, dashes and underscores"), argument)
    .default({}),
})

export const McpServerView = z.intersection(McpServerDefinition, z.object({ name: McpServerName, secrets: z.array(z.string()) }))
export type McpServerView = z.infer<typeof McpServerView>
