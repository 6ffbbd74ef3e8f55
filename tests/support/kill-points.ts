import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { KillPoint } from "../../lib/host/kill-point"
import { processStartTime } from "../../lib/host/process-identity"
import { ARMED_DIST, prepareArmedBuild } from "../../scripts/lib/armed-build.mjs"
import { ARMED_FILE, FIRED_FILE, type Fired } from "../torture/armed-kill-point"
import { type DatabaseKind, Rewake } from "./server"
import { waitUntil } from "./wait-until"

/** Rewake with kill points that kill. */
export async function startArmed(database: DatabaseKind, env: Record<string, string> = {}): Promise<Rewake> {
  await prepareArmedBuild()
  return Rewake.start({ database, env, dist: ARMED_DIST })
}

let armings = 0
/** The process that comes to this point next dies there; settles when it has. `also`: server and daemon together. */
export function arm(rewake: Rewake, point: KillPoint, also = false): { reached(): Promise<unknown> } {
  const fired = join(rewake.dataDir, FIRED_FILE)
  rmSync(fired, { force: true })
  writeFileSync(join(rewake.dataDir, ARMED_FILE), JSON.stringify({ id: ++armings, point, occurrence: 1, also }))
  const victims = () => (JSON.parse(readFileSync(fired, "utf8")) as Fired).victims
  const gone = () => existsSync(fired) && victims().every((pid) => processStartTime(pid) === null)
  return { reached: () => waitUntil(gone, `a death at ${point}`) }
}

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
