import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"

type Program = { command: string; args: string[]; cwd: string; env: NodeJS.ProcessEnv }

/** Spawn, initialize and take up a session, by hand and without anything of ours: how long it takes until the agent says it is there. */
export async function bareTakeUp({ command, args, cwd, env }: Program, method: "session/load" | "session/resume", sessionId: string) {
  const started = performance.now()
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"], cwd, env })
  const answers = createInterface({ input: child.stdout })
  const answered = (id: number) =>
    new Promise<void>((resolve, reject) => {
      child.once("exit", () => reject(new Error(`${command} ended before it answered`)))
      answers.on("line", (line) => {
        const message = parse(line)
        if (message?.id !== id) return
        if (message.error) reject(new Error(`${command}: ${JSON.stringify(message.error)}`))
        else resolve()
      })
    })
  const ask = (id: number, name: string, params: object) => {
    const answer = answered(id)
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: name, params })}\n`)
    return answer
  }
  await ask(1, "initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
  })
  await ask(2, method, { sessionId, cwd, mcpServers: [] })
  const took = performance.now() - started
  const gone = once(child, "exit")
  child.stdin.end()
  await gone
  return took
}

/** Agents print other things, too. */
function parse(line: string): { id?: number; error?: unknown } | null {
  try {
    return JSON.parse(line) as { id?: number; error?: unknown }
  } catch {
    return null
  }
}
