import { readdirSync, readFileSync } from "node:fs"
import { isSameProcess, processStartTime } from "../../lib/host/process-identity"
import type { RecordedProcess } from "./session-facts"

/** Between SIGTERM and SIGKILL. */
export const TERM_GRACE_MS = 2000
const POLL_MS = 20

/** Agents carry this in their environment, so that children which left the process group are still found. */
export const EXECUTION_VARIABLE = "REWAKE_AGENT_EXECUTION_ID"

export const recordProcess = (pid: number): RecordedProcess | null => {
  const startTime = processStartTime(pid)
  return startTime === null ? null : { pid, start_time: startTime }
}

export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}

/**
 * Processes whose environment names this data folder and an agent of it, with that execution id or any.
 * Linux only; elsewhere process groups alone are ended.
 */
export function findMarked(dataDir: string, executionId: string | null): RecordedProcess[] {
  const marks = [`REWAKE_DATA_DIR=${dataDir}`, executionId === null ? `${EXECUTION_VARIABLE}=` : `${EXECUTION_VARIABLE}=${executionId}`]
  const found: RecordedProcess[] = []
  const own = ancestors(process.pid)
  for (const pid of listPids()) {
    if (own.has(pid)) continue
    try {
      const entries = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0")
      if (!entries.includes(marks[0] as string)) continue
      if (!entries.some((e) => (executionId === null ? e.startsWith(marks[1] as string) : e === marks[1]))) continue
      const recorded = recordProcess(pid)
      if (recorded) found.push(recorded)
    } catch {
      // Ended meanwhile, or another user's.
    }
  }
  return found
}

/** Ends each process with its group: SIGTERM, then SIGKILL. Start times are compared first; pids are reused. */
export async function endProcesses(processes: RecordedProcess[], graceMs = TERM_GRACE_MS): Promise<void> {
  const alive = () => processes.filter((p) => isSameProcess(p.pid, p.start_time))
  const found = alive()
  send(found, "SIGTERM")
  const deadline = Date.now() + graceMs
  while (alive().length > 0 && Date.now() < deadline) await pause()
  // A leader that obeyed may leave members that did not; its number cannot name another group while they live.
  for (const { pid } of found) signalGroup(pid, "SIGKILL")
  send(alive(), "SIGKILL")
  for (let i = 0; i < 50 && alive().length > 0; i++) await pause()
}

const pause = () => new Promise((resolve) => setTimeout(resolve, POLL_MS))

function send(processes: RecordedProcess[], signal: NodeJS.Signals): void {
  for (const { pid } of processes) {
    if (signalGroup(pid, signal)) continue
    try {
      process.kill(pid, signal)
    } catch {
      // Ended meanwhile.
    }
  }
}

function listPids(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

function ancestors(pid: number): Set<number> {
  const chain = new Set<number>()
  for (let at = pid; at > 0 && !chain.has(at); at = parentOf(at)) chain.add(at)
  return chain
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
  } catch {
    return 0
  }
}
