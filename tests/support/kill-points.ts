import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { KillPoint } from "../../lib/host/kill-point"
import { processStartTime } from "../../lib/host/process-identity"
import { ARMED_FILE, type Armed, FIRED_FILE, type Fired } from "../replacements/kill-point"
import type { Rewake } from "./server"
import { waitUntil } from "./wait-until"

let armings = 0
/** The process that reaches this point next gets the signal there. */
export function arm(
  rewake: Rewake,
  point: KillPoint,
  { also = false, signal = "SIGKILL" }: Partial<Pick<Armed, "also" | "signal">> = {},
): { isReached(): boolean; reached(): Promise<unknown> } {
  const fired = join(rewake.dataDir, FIRED_FILE)
  rmSync(fired, { force: true })
  writeFileSync(join(rewake.dataDir, ARMED_FILE), JSON.stringify({ id: ++armings, point, occurrence: 1, also, signal } satisfies Armed))
  const victims = () => (JSON.parse(readFileSync(fired, "utf8")) as Fired).victims
  const hasSignal = (pid: number) => (signal === "SIGKILL" ? processStartTime(pid) === null : isStopped(pid))
  const isReached = () => existsSync(fired) && victims().every(hasSignal)
  return { isReached, reached: () => waitUntil(isReached, `${signal} at ${point}`) }
}

const isStopped = (pid: number) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))

/** What the demo agents of this folder wrote down of what they were told. */
export function heardByAgents(rewake: Rewake): string[] {
  const folder = join(rewake.dataDir, "demo-agent")
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), "utf8")
      .split("\n")
      .filter((line) => line.includes('"role":"user"'))
      .map((line) => (JSON.parse(line) as { text: string }).text),
  )
}
