import { spawn } from "node:child_process"
import type { PermissionOption, StopReason, ToolCallContent } from "@agentclientprotocol/sdk"
import { newToolCallId, type Turn } from "./turn"

const MAX_SHOWN = 64 * 1024
/** Output is repeated as a whole with each update; more often would only repeat more. */
const REFRESH_MS = 150

const ANSWERS: PermissionOption[] = [
  { optionId: "allow_once", name: "Allow once", kind: "allow_once" },
  { optionId: "allow_always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject_once", name: "Refuse", kind: "reject_once" },
]

/** Asks a person, unless told not to, then runs it in the workspace and shows its output as it comes. */
export async function runCommand(turn: Turn, command: string): Promise<StopReason> {
  const toolCallId = newToolCallId()
  const title = `Run ${command}`
  await turn.send({ sessionUpdate: "tool_call", toolCallId, title, kind: "execute", status: "pending", rawInput: { command } })
  const chosen = turn.mode === "auto" ? "allow_once" : await turn.askPerson(toolCallId, title, ANSWERS, { command })
  if (turn.cancelled.aborted || chosen === null) {
    await turn.send({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" })
    return "cancelled"
  }
  if (chosen === "reject_once") {
    await turn.send({ sessionUpdate: "tool_call_update", toolCallId, status: "failed", content: text("Refused.") })
    await turn.say("Then I will not run it.")
    return "end_turn"
  }
  await turn.send({ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" })
  const { output, code } = await execute(turn, toolCallId, command)
  await turn.send({
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: code === 0 ? "completed" : "failed",
    content: text(output),
    rawOutput: { exit_code: code },
  })
  turn.cancelled.throwIfAborted()
  await turn.say(code === 0 ? "The command ended with exit code 0." : `The command failed with exit code ${code}.`)
  return "end_turn"
}

function execute(turn: Turn, toolCallId: string, command: string): Promise<{ output: string; code: number }> {
  return new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", command], { cwd: turn.cwd, stdio: ["ignore", "pipe", "pipe"], detached: true })
    let output = ""
    let timer: NodeJS.Timeout | null = null
    const stop = () => {
      try {
        if (child.pid) process.kill(-child.pid, "SIGKILL")
      } catch {
        // Ended meanwhile.
      }
    }
    turn.cancelled.addEventListener("abort", stop, { once: true })
    const take = (bytes: Buffer) => {
      output = (output + bytes.toString("utf8")).slice(-MAX_SHOWN)
      timer ??= setTimeout(() => {
        timer = null
        void turn.send({ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress", content: text(output) })
      }, REFRESH_MS)
    }
    child.stdout.on("data", take)
    child.stderr.on("data", take)
    const done = (code: number) => {
      if (timer) clearTimeout(timer)
      turn.cancelled.removeEventListener("abort", stop)
      resolve({ output, code })
    }
    child.on("error", (error) => {
      output += error.message
      done(127)
    })
    child.on("close", (code) => done(code ?? 137))
  })
}

const text = (value: string): ToolCallContent[] => [{ type: "content", content: { type: "text", text: value } }]
