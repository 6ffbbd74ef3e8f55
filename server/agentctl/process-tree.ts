import { readdirSync, readFileSync } from "node:fs"
import { isSameProcess, processStartTime } from "../../lib/host/process-identity"
import type { RecordedProcess } from "./session-facts"

/** Between SIGTERM and SIGKILL. */
export const TERM_GRACE_MS = 2000
const POLL_MS = 20

/** Agents and terminals carry these in their environment, so that children which left the process group are still found. */
const EXECUTION_VARIABLE = "REWAKE_AGENT_EXECUTION_ID"
const SESSION_VARIABLE = "REWAKE_SESSION_ID"
const WORKER_VARIABLE = "REWAKE_WORKER_ID"
export const workerMarks = (sessionId: string, workerId: string) => ({ [SESSION_VARIABLE]: sessionId, [WORKER_VARIABLE]: workerId })
export const agentMarks = (sessionId: string, executionId: string) => ({ [SESSION_VARIABLE]: sessionId, [EXECUTION_VARIABLE]: executionId })

export interface MarkedProcess extends RecordedProcess {
  session_id: string
  agent_execution_id: string
}

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

/** What a process's environment says of where it came from, if that is this folder. Linux only; elsewhere process groups alone are ended. */
export function marksOf(pid: number, dataDir: string): { session_id: string; agent_execution_id?: string; worker_id?: string } | null {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0")
    const marked = (name: string) => environment.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1)
    const [session_id, agent_execution_id, worker_id] = [marked(SESSION_VARIABLE), marked(EXECUTION_VARIABLE), marked(WORKER_VARIABLE)]
    if (!session_id || !environment.includes(`REWAKE_DATA_DIR=${dataDir}`)) return null
    return { session_id, ...(agent_execution_id ? { agent_execution_id } : {}), ...(worker_id ? { worker_id } : {}) }
  } catch {
    // Ended meanwhile, or another user's.
    return null
  }
}

/** Processes of this folder's agents. Those of terminals are left out: a job that outlived its terminal goes on. */
export function findMarked(dataDir: string): MarkedProcess[] {
  const own = ancestors(process.pid)
  return listPids().flatMap((pid) => {
    const marks = own.has(pid) ? null : marksOf(pid, dataDir)
    const recorded = marks?.agent_execution_id ? recordProcess(pid) : null
    return recorded && marks?.agent_execution_id
      ? [{ ...recorded, session_id: marks.session_id, agent_execution_id: marks.agent_execution_id }]
      : []
  })
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

export function listPids(): number[] {
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
