// An Agent Client Protocol agent whose every chunk says when it was written: `speak N MS`.
import { createInterface } from "node:readline"

const now = () => performance.timeOrigin + performance.now()
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
const bare = process.argv.includes("--bare")

async function speak(count, ms, write) {
  for (let i = 0; i < count; i++) {
    await new Promise((resolve) => setTimeout(resolve, ms))
    write(`${now()} `)
  }
}

if (bare) {
  const [count, ms] = process.argv.slice(3).map(Number)
  await speak(count, ms, (text) => process.stdout.write(`${JSON.stringify({ text })}\n`))
} else {
  createInterface({ input: process.stdin }).on("line", async (line) => {
    const { id, method, params } = JSON.parse(line)
    if (method === "initialize") send({ id, result: { protocolVersion: 1, agentCapabilities: {}, authMethods: [] } })
    if (method === "session/new") send({ id, result: { sessionId: "timed" } })
    if (method === "session/prompt") {
      const [, count, ms] = params.prompt[0].text.split(" ").map(Number)
      const update = (text) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } })
      await speak(count, ms, (text) => send({ method: "session/update", params: { sessionId: params.sessionId, update: update(text) } }))
      send({ id, result: { stopReason: "end_turn" } })
    }
  })
}
