// An agent that misbehaves as asked: node odd-agent.mjs MODE. Speaks the protocol by hand, so that it can also break it.
import { appendFileSync, writeFileSync } from "node:fs"
import { createInterface } from "node:readline"

const mode = process.argv[2]
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
const update = (fields) => send({ method: "session/update", params: { sessionId: "odd", update: fields } })
const text = (sessionUpdate, words) => update({ sessionUpdate, content: { type: "text", text: words } })
const waiting = new Map()
let nextId = 1000
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = nextId++
    waiting.set(id, resolve)
    send({ id, method, params: { sessionId: "odd", ...params } })
  })

if (process.argv[3] === "login") {
  process.stdout.write("Visit the address and press Enter.\n")
  await new Promise((resolve) => process.stdin.once("data", resolve))
  process.exit(0)
}
if (mode === "exits") {
  process.stderr.write("no licence found\n")
  process.exit(4)
}
if (mode === "ignores-sigterm") process.on("SIGTERM", () => {})
if (mode === "garbage") process.stdout.write("Welcome to the agent!\n\u001b[31mred\u001b[0m\n{not json\n")

const signIn = [
  { id: "key", name: "API key", description: "A key of your own" },
  { id: "browser", name: "Browser", description: null },
  { id: "cli", name: "Command line", type: "terminal", args: ["login"] },
]
let signedIn = mode !== "signed-out"
/** Its only careful mode is gone from a conversation that is taken up again. */
const modes = (ids) => ({ currentModeId: "bold", availableModes: ids.map((name) => ({ id: name, name })) })

const capabilities = { loadSession: true, ...(mode === "resumes-nothing" ? { sessionCapabilities: { resume: {}, list: {} } } : {}) }

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, result, error } = JSON.parse(line)
  if (method === undefined) return waiting.get(id)?.(error ? { error } : { result })
  if (process.env.ODD_LOG) appendFileSync(process.env.ODD_LOG, `${method}\n`)
  switch (method) {
    case "initialize":
      if (mode === "silent") return
      return send({ id, result: { protocolVersion: 1, agentCapabilities: capabilities, authMethods: signIn } })
    case "authenticate":
      // Its browser is open, and nobody comes.
      if (params.methodId === "patience") return
      if (params.methodId !== "key") return send({ id, error: { code: -32603, message: "the browser was closed" } })
      signedIn = true
      return send({ id, result: {} })
    case "session/set_mode":
      update({ sessionUpdate: "current_mode_update", currentModeId: params.modeId })
      return send({ id, result: {} })
    case "session/new":
      if (!signedIn) return send({ id, error: { code: -32000, message: "Authentication required" } })
      return send({ id, result: { sessionId: "odd", ...(mode === "loses-modes" ? { modes: modes(["bold", "careful"]) } : {}) } })
    case "session/resume":
      return send({ id, result: {} })
    case "session/list":
      return send({ id, result: { sessions: [] } })
    case "session/load":
      if (mode === "loads-nothing") return send({ id, result: {} })
      if (mode === "destroys") writeFileSync(process.env.ODD_FILE, "")
      if (mode === "rejects") return send({ id, error: { code: -32603, message: "Internal error", data: { details: "no rollout found" } } })
      if (mode === "asks-while-loading") await ask("session/request_permission", permission)
      replay()
      send({ id, result: mode === "loses-modes" ? { modes: modes(["bold"]) } : {} })
      // Some agents go on replaying after they have answered.
      text("agent_message_chunk", "late replay")
      return update({ sessionUpdate: "available_commands_update", availableCommands: [{ name: "late", description: "Told last" }] })
    case "session/prompt":
      return answer(id, params.prompt[0].text)
  }
})
if (mode !== "ignores-sigterm") process.stdin.on("end", () => process.exit(0))
else setInterval(() => {}, 1000)

const permission = { toolCall: { toolCallId: "t1", title: "Delete all" }, options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }] }

function replay() {
  text("user_message_chunk", "an old question")
  text("agent_message_chunk", "an old answer")
  update({ sessionUpdate: "tool_call", toolCallId: "old", title: "old tool", status: "completed" })
}

async function answer(id, prompt) {
  const [command, ...rest] = prompt.split(" ")
  const done = (words) => {
    text("agent_message_chunk", words)
    send({ id, result: { stopReason: "end_turn" } })
  }
  switch (command) {
    case "garbage":
      process.stdout.write("a stray line\n")
      return done("still here")
    case "news":
      update({ sessionUpdate: "shiny_new_kind", payload: { a: 1 } })
      return done("told")
    case "aside":
      text("agent_message_chunk", "one ")
      update({ sessionUpdate: "usage_update", used: 5, size: 100 })
      update({ sessionUpdate: "available_commands_update", availableCommands: [{ name: "mid", description: "Told in mid-sentence" }] })
      return done("two")
    case "error":
      return send({ id, error: { code: -32603, message: "model overloaded" } })
    case "read":
      return done(
        JSON.stringify(
          await ask("fs/read_text_file", { path: rest[0], ...(rest[1] ? { line: Number(rest[1]), limit: Number(rest[2]) } : {}) }),
        ),
      )
    case "write":
      return done(JSON.stringify(await ask("fs/write_text_file", { path: rest[0], content: "changed" })))
    case "terminal": {
      const { result } = await ask("terminal/create", { command: rest.join(" "), outputByteLimit: 7 })
      const { terminalId } = result
      update({
        sessionUpdate: "tool_call",
        toolCallId: "t",
        title: "terminal",
        status: "in_progress",
        content: [{ type: "terminal", terminalId }],
      })
      const exit = await ask("terminal/wait_for_exit", { terminalId })
      const output = await ask("terminal/output", { terminalId })
      await ask("terminal/release", { terminalId })
      return done(JSON.stringify({ exit: exit.result, output: output.result }))
    }
    case "deep": {
      const nested = (depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`
      const call = { sessionUpdate: "tool_call", toolCallId: "deep", title: "Deep", rawInput: "@" }
      const message = { jsonrpc: "2.0", method: "session/update", params: { sessionId: "odd", update: call } }
      process.stdout.write(`${JSON.stringify(message).replace('"@"', nested(20_000))}\n`)
      return done("sent")
    }
    case "line":
      update({ sessionUpdate: "long", payload: "z".repeat(17 * 1024 * 1024) })
      return done("sent")
    case "long":
      for (let mebibyte = 0; mebibyte < 6; mebibyte++) text("agent_message_chunk", String(mebibyte).repeat(1024 * 1024))
      return send({ id, result: { stopReason: "end_turn" } })
    case "huge":
      update({ sessionUpdate: "huge", payload: "y".repeat(9 * 1024 * 1024) })
      return done("sent")
    default:
      return done(`heard ${prompt}`)
  }
}
