// A small MCP server on stdio: one tool, and a file that says with which key it was started.
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"

appendFileSync(process.env.MCP_LOG, `${process.env.MCP_KEY}\n`)
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "pantry", version: "1" } }),
  "tools/list": () => ({
    tools: [{ name: "look_up", description: "Looks up what is there", inputSchema: { type: "object", properties: {} } }],
  }),
}
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const answer = answers[method]
  const body = answer ? { result: answer(params) } : { error: { code: -32601, message: "no such method" } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`)
})
process.stdin.on("end", () => process.exit(0))
