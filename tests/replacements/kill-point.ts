import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { KillPoint } from "../../lib/host/kill-point"
import { isSameProcess } from "../../lib/host/process-identity"

/**
 * Replaces lib/host/kill-point.ts in dist-test/: ends its process at the point that `kill-point.json` of the data folder names,
 * at its nth time, and says so in `kill-point-reached.json`. Never part of the product.
 */
export type Armed = {
  id: number
  point: KillPoint
  occurrence: number
  /** Server and daemon together. */
  also: boolean
  /** SIGSTOP leaves the process there, with every lock it holds. */
  signal: "SIGKILL" | "SIGSTOP"
}
/** Written just before the signal: whoever reads it waits until all of these have it. */
export type Fired = Armed & { victims: number[] }
export const ARMED_FILE = "kill-point.json"
export const FIRED_FILE = "kill-point-reached.json"

const folder = process.env.REWAKE_DATA_DIR ?? process.env.DATA_DIR ?? ""
let counting = 0
let times = 0

export function killPoint(name: KillPoint): void {
  const armed = read(join(folder, ARMED_FILE)) as Armed | null
  if (armed?.point !== name) return
  if (armed.id !== counting) times = 0
  counting = armed.id
  if (++times < armed.occurrence) return
  const taken = join(folder, `kill-point-${process.pid}.json`)
  try {
    // Whoever moves the file dies; a second process at the same point goes on.
    renameSync(join(folder, ARMED_FILE), taken)
  } catch {
    return
  }
  const others = armed.also ? ["server.json", "agentctl.json"].flatMap((file) => pidIn(join(folder, "run", file))) : []
  writeFileSync(taken, JSON.stringify({ ...armed, victims: [...others, process.pid] } satisfies Fired))
  renameSync(taken, join(folder, FIRED_FILE))
  try {
    for (const pid of others) process.kill(pid, armed.signal)
  } finally {
    process.kill(process.pid, armed.signal)
  }
}

function pidIn(file: string): number[] {
  const other = read(file) as { pid: number; start_time: string } | null
  return other && other.pid !== process.pid && isSameProcess(other.pid, other.start_time) ? [other.pid] : []
}

function read(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"))
  } catch {
    return null
  }
}
