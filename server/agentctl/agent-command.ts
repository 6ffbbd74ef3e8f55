import { spawn } from "node:child_process"
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AgentCommand, AskAgentCommand } from "../../lib/contracts/agentctl/agent-file"
import { withUmaskOfUsers } from "../../lib/host/umask"
import { messageOf } from "./failure"
import { signalGroup } from "./process-tree"
import { commandEnvironment } from "./pty/environment"
import { withoutTerminals } from "./pty/masters"

/** A command of an agent that takes longer hangs, or asks somebody who is not there. */
export const COMMAND_TIME_LIMIT_MS = 60_000
const LAST_WORDS = 300

type Run = { dataDir: string; cwd: string; file: string; output: string; timeLimitMs?: number }

/** Runs it with its output in a file; the answer is null, or why it failed. Everything it started ends with it. */
export function runAgentCommand(
  command: AgentCommand,
  { dataDir, cwd, file, output, timeLimitMs = COMMAND_TIME_LIMIT_MS }: Run,
): Promise<string | null> {
  const fd = openSync(output, "w", 0o600)
  return new Promise<string | null>((resolve) => {
    const args = command.args.map((word) => word.replaceAll("{file}", file))
    const child = withUmaskOfUsers(() =>
      spawn(command.file, args, {
        cwd,
        env: commandEnvironment({ dataDir, cwd }, command.env) as NodeJS.ProcessEnv,
        detached: true,
        stdio: withoutTerminals(["ignore", fd, "pipe"]),
      }),
    )
    let said = ""
    let late = false
    const timer = setTimeout(() => {
      late = true
      if (child.pid) signalGroup(child.pid, "SIGKILL")
    }, timeLimitMs)
    child.stderr?.on("data", (bytes: Buffer) => {
      said = (said + bytes.toString("utf8")).slice(-LAST_WORDS)
    })
    child.once("error", (error) => {
      clearTimeout(timer)
      resolve(messageOf(error))
    })
    child.once("close", (code, signal) => {
      clearTimeout(timer)
      if (child.pid) signalGroup(child.pid, "SIGKILL")
      if (code === 0) return resolve(null)
      resolve(late ? `took longer than ${timeLimitMs / 1000} s` : `ended with ${signal ?? code}${words(said, command.env)}`)
    })
  }).finally(() => closeSync(fd))
}

/** The same with what it reads and what it says in memory; for little. */
export async function askAgentCommand({ command, input, time_limit_ms }: AskAgentCommand, place: { dataDir: string; cwd: string }) {
  const folder = mkdtempSync(join(tmpdir(), "rewake-command-"))
  const [file, output] = [join(folder, "input.json"), join(folder, "output")]
  try {
    writeFileSync(file, input, { mode: 0o600 })
    const failure = await runAgentCommand(command, { ...place, file, output, timeLimitMs: time_limit_ms })
    return { failure, output: statSync(output).size > MAX_SAID ? "" : readFileSync(output, "utf8") }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
const MAX_SAID = 1024 * 1024

/** Keys it was given are none of anybody's business. */
function words(said: string, env: Record<string, string>): string {
  const secrets = Object.values(env).filter((value) => value.length > 3)
  const masked = secrets.reduce((text, secret) => text.replaceAll(secret, "•••"), said).trim()
  return masked === "" ? "" : `: ${masked}`
}
