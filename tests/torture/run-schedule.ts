import type { KillPoint } from "../../lib/host/kill-point"
import { check } from "./checks"
import { comeToRest } from "./come-to-rest"
import { type Evidence, type Finding, gather } from "./evidence"
import { perform } from "./perform"
import type { Place } from "./place"
import type { Schedule } from "./schedule"
import { pause, SLOW_LOOK_MS } from "./wait"
import { World } from "./world"

/** Processes that were told to end, and rows that follow them, are given this long. */
const SETTLED_WITHIN_MS = 6_000
const REMOVED_WITHIN_MS = 20_000

export type Result = {
  schedule: Schedule
  findings: Finding[]
  story: string[]
  kills: number
  points: readonly KillPoint[]
  /** Of all its sessions, in the journal. */
  events: number
  ms: number
}

/** One schedule from its first step to the end of its checks. Its tasks are deleted afterwards, and nothing of them may be left running. */
export async function runSchedule(place: Place, schedule: Schedule): Promise<Result> {
  const began = performance.now()
  const world = new World(place)
  const findings: Finding[] = []
  let events = 0
  try {
    for (const step of schedule.steps) await perform(world, step)
    const stuck = await comeToRest(world)
    findings.push(
      ...stuck.map((found): Finding => ({ invariant: "6 everything comes to rest", where: "at the end", expected: "rest", found })),
    )
    if (stuck.length === 0) findings.push(...(await checkAtRest(world)))
    findings.push(
      ...world.surprises.map((found): Finding => ({ invariant: "no answer is wrong", where: "API", expected: "what was answered", found })),
    )
    events = await place.db.sessionEvent.count({ where: { session_id: { in: world.sessions.map(({ id }) => id) } } })
    if (findings.length === 0) findings.push(...(await removeAll(world)))
  } catch (error) {
    const found = error instanceof Error ? (error.stack ?? error.message) : String(error)
    findings.push({ invariant: "nothing breaks", where: "the torture itself", expected: "no error", found })
  }
  world.closePages()
  return { schedule, findings, story: world.story, kills: world.deaths.length, points: world.points, events, ms: performance.now() - began }
}

/** What is ending gets the time it needs; only what stays wrong is a finding. */
async function checkAtRest(world: World): Promise<Finding[]> {
  let findings: Finding[] = []
  for (const deadline = Date.now() + SETTLED_WITHIN_MS; ; await pause(SLOW_LOOK_MS)) {
    const evidence: Evidence = await gather(world)
    findings = check(evidence)
    if (findings.length === 0 || Date.now() > deadline) return findings
  }
}

async function removeAll(world: World): Promise<Finding[]> {
  const { place } = world
  const ids = world.sessions.map(({ id }) => id)
  for (const task of new Set(world.sessions.map(({ task_id }) => task_id))) await place.call(0, "DELETE", `/api/v1/tasks/${task}`)
  const left = () => place.processes().filter(({ session_id }) => session_id !== null && ids.includes(session_id))
  for (const deadline = Date.now() + REMOVED_WITHIN_MS; Date.now() < deadline; await pause(SLOW_LOOK_MS)) {
    if (left().length === 0 && (await place.db.session.count({ where: { id: { in: ids } } })) === 0) return []
  }
  const found = left().map(({ pid, command }) => `${pid} ${command}`)
  return [
    { invariant: "5 nothing is left after the end", where: "processes and rows", expected: "none", found: found.join("; ") || "rows" },
  ]
}
