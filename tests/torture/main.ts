import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { KILL_POINTS } from "../../lib/host/kill-point"
import { generate } from "./generate"
import { KNOWN_SCHEDULES } from "./known-seeds"
import { Place } from "./place"
import { type Result, runSchedule } from "./run-schedule"
import { ALL_SETTINGS, isFault, type Schedule, type Setting, traitsOf } from "./schedule"
import { shrink } from "./shrink"
import { tellStory } from "./story"

/** npm run torture: schedules one after the other, `--workers` at a time, each over a place that earlier ones have left in order. */

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    runs: { type: "string" },
    length: { type: "string", default: "14" },
    /** Ends when the time is over, whatever `runs` says. */
    seconds: { type: "string" },
    /** The seeds that found something before come first. */
    known: { type: "boolean", default: false },
    setting: { type: "string" },
    /** All settings over this one. */
    database: { type: "string" },
    workers: { type: "string", default: "2" },
    shrink: { type: "string", default: "180" },
    /** After so many broken ones there is enough to look at. */
    failures: { type: "string", default: "5" },
    keep: { type: "boolean", default: false },
    results: { type: "string" },
  },
})
const length = Number(values.length)
const firstSeed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : Number(values.seed)
const deadline = values.seconds === undefined ? Number.POSITIVE_INFINITY : Date.now() + Number(values.seconds) * 1_000
const runs = values.runs === undefined ? (values.seconds === undefined ? 20 : Number.POSITIVE_INFINITY) : Number(values.runs)
/** A place that has seen many schedules has long logs and many folders, which is not what is being looked at. */
const SCHEDULES_PER_PLACE = 25

const settings = ALL_SETTINGS.filter(
  (name) => name === (values.setting ?? name) && traitsOf(name).database === (values.database ?? traitsOf(name).database),
)
if (settings.length === 0) {
  console.error(`No such setting. There are: ${ALL_SETTINGS.join(", ")}; databases: sqlite, postgresql.`)
  process.exit(1)
}

const known = values.known ? [...KNOWN_SCHEDULES] : []
let started = 0
function nextSchedule(): Schedule | null {
  const familiar = known.shift()
  if (familiar) return familiar
  if (started >= runs || Date.now() > deadline || failures.length >= Number(values.failures)) return null
  return generate(firstSeed + started++, length, settings)
}

/** Places are ended with the tool, also when it is told to stop: their daemons would outlive it. */
const open = new Set<Place>()
let stopping = false
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    stopping = true
    void Promise.allSettled([...open].map((place) => place.close({ keep: false }))).then(() => process.exit(1))
  })
}

const times: { name: string; ms: number }[] = []
const failures: { seed: number; length: number; story: string }[] = []
let passed = 0
const covered = {
  kills: 0,
  events: 0,
  points: new Map<string, number>(),
  armed: new Map<string, number>(),
  faults: new Map<string, number>(),
}
const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
function cover({ schedule, kills, events, points }: Result): void {
  covered.kills += kills
  covered.events += events
  for (const point of points) count(covered.points, point)
  for (const fault of schedule.steps.filter(isFault)) {
    count(covered.faults, fault.do)
    if (fault.do === "arm") count(covered.armed, fault.point)
  }
}

async function close(place: Place, keep: boolean): Promise<void> {
  // What breaks because everything is being ended is no finding; the end of the process is near.
  if (stopping) await new Promise(() => {})
  await place.close({ keep })
  open.delete(place)
}

async function work(): Promise<void> {
  const places = new Map<Setting, { place: Place; used: number }>()
  async function placeFor(setting: Setting): Promise<Place> {
    const kept = places.get(setting)
    if (kept && kept.used++ < SCHEDULES_PER_PLACE) return kept.place
    if (kept) await close(kept.place, values.keep)
    const place = await Place.open(setting)
    open.add(place)
    places.set(setting, { place, used: 1 })
    return place
  }
  /** What broke is kept as it is; the next one gets a place of its own. */
  async function runOnce(schedule: Schedule, keepBroken: boolean): Promise<Result & { folder: string }> {
    const place = await placeFor(schedule.setting)
    const result = await runSchedule(place, schedule)
    if (result.findings.length > 0) {
      places.delete(schedule.setting)
      await close(place, keepBroken)
    }
    return { ...result, folder: place.dataDir }
  }

  for (let schedule = nextSchedule(); schedule; schedule = nextSchedule()) {
    const result = await runOnce(schedule, true)
    cover(result)
    const broken = result.findings.length > 0
    times.push({ name: `torture > seed ${schedule.seed}, ${schedule.setting}`, ms: result.ms })
    const line = `seed ${schedule.seed}  ${schedule.setting.padEnd(19)} ${schedule.steps.length} steps  ${result.kills} kills  ${Math.round(result.ms)} ms`
    console.log(`${broken ? "BROKEN" : "ok    "}  ${line}`)
    if (!broken) {
      passed++
      continue
    }
    const story = await smallestStory(result, runOnce)
    failures.push({ seed: schedule.seed, length: schedule.length, story })
    console.log(`\n${story}\n`)
  }
  for (const { place } of places.values()) await close(place, values.keep)
}

async function smallestStory(
  first: Result & { folder: string },
  runOnce: (schedule: Schedule, keepBroken: boolean) => Promise<Result & { folder: string }>,
): Promise<string> {
  const until = Date.now() + Number(values.shrink) * 1_000
  const same = new Set(first.findings.map(({ invariant }) => invariant))
  let smallest: Result = first
  await shrink(
    first.schedule,
    async (candidate) => {
      const result = await runOnce(candidate, false)
      const breaks = result.findings.some(({ invariant }) => same.has(invariant))
      if (breaks) smallest = result
      return breaks
    },
    () => Date.now() < until,
  )
  return tellStory(smallest, first.folder)
}

const began = performance.now()
await Promise.all(Array.from({ length: Number(values.workers) }, work))
const seconds = Math.round((performance.now() - began) / 1_000)
console.log(`\n${passed + failures.length} schedules from seed ${firstSeed}, length ${length}: ${failures.length} broken, ${seconds} s`)
const points = Object.values(KILL_POINTS).flat()
const never = points.filter((point) => !covered.points.has(point))
const faults = [...covered.faults].map(([fault, count]) => `${count} ${fault}`).join(", ")
console.log(`${covered.kills} kills, ${covered.events} events; faults: ${faults || "none"}`)
console.log(`${points.length - never.length} of ${points.length} kill points hit${never.length > 0 ? `; never: ${never.join(", ")}` : ""}`)
console.log(
  `hit of armed: ${points.map((point) => `${point} ${covered.points.get(point) ?? 0}/${covered.armed.get(point) ?? 0}`).join(", ")}`,
)
for (const { seed, length: steps } of failures) console.log(`  broken: --seed ${seed} --runs 1 --length ${steps}`)
if (values.results) {
  const told = failures.map(({ seed, story }) => ({ name: `seed ${seed}`, message: story }))
  writeFileSync(values.results, JSON.stringify({ passed, skipped: 0, failures: told, times }))
}
process.exit(failures.length === 0 ? 0 : 1)
