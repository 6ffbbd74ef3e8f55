// The parts of `npm test`, in order: how each is run, what it needs, and how its results are read.
import { inProject } from "../project.mjs"
import { readPlaywrightResults, readTortureResults, readVitestResults } from "./results.mjs"

const bin = (...path) => [process.execPath, inProject("node_modules", ...path)]
const MINUTE = 60_000

/** Stages follow each other; within a stage, lanes run side by side: the compiler uses one core, the other lane the second. */
const CHECK_STAGE = 1
const SERVICE_STAGE = 2

function check(name, about, lane, program, args) {
  const command = (extra) => [...program, ...args, ...extra]
  return { name, about, stage: CHECK_STAGE, lane, needs: [], timeoutMs: 10 * MINUTE, command, read: null }
}

function vitest(name, about, where, needs, timeoutMs) {
  return {
    name,
    about,
    ...where,
    needs,
    timeoutMs,
    command: (extra, resultsFile) => [
      ...bin("vitest", "vitest.mjs"),
      ...["run", "--project", name, "--reporter=default", "--reporter=json", `--outputFile.json=${resultsFile}`],
      ...extra,
    ],
    read: readVitestResults,
  }
}
const besideTypes = { stage: CHECK_STAGE, lane: "sources" }
const withServices = { stage: SERVICE_STAGE, lane: "services" }

/** What `npm run check` runs: no service, no build. */
export const CHECKS = [
  check("typecheck", "the TypeScript compiler", "types", bin("typescript", "bin", "tsc"), ["--noEmit", "--pretty", "false"]),
  check("lint", "Biome", "sources", bin("@biomejs", "biome", "bin", "biome"), [
    ...["check", ".", "--diagnostic-level=error", "--max-diagnostics=20"],
  ]),
  vitest("unit", "pure functions", besideTypes, [], 10 * MINUTE),
  vitest("architecture", "import direction, documents, migrations", besideTypes, [], 5 * MINUTE),
]

export const PARTS = [
  ...CHECKS,
  vitest("integration", "real databases, daemons and stores", withServices, ["postgres", "git", "zstd", "s3"], 15 * MINUTE),
  vitest("recovery", "processes killed, and what comes back", withServices, ["postgres", "git"], 15 * MINUTE),
  {
    name: "torture",
    about: "seeded schedules of faults, then every invariant checked",
    ...withServices,
    needs: ["postgres", "git"],
    timeoutMs: 15 * MINUTE,
    // What earlier seeds found, then the same schedules for every change; `npm run torture` looks for new ones.
    command: (extra, resultsFile) => [
      ...[process.execPath, inProject("scripts", "torture.mjs"), "--known", "--seed", "164900", "--runs", "22", "--length", "12"],
      ...["--workers", "4", "--shrink", "90", "--results", resultsFile, ...extra],
    ],
    read: readTortureResults,
  },
  {
    name: "e2e",
    about: "the interface in a real browser",
    ...withServices,
    needs: ["chromium", "postgres", "git"],
    timeoutMs: 15 * MINUTE,
    command: (extra) => [...bin("@playwright", "test", "cli.js"), "test", ...extra],
    read: readPlaywrightResults,
  },
]

/** Not among the parts: its agents are large, and come from npm. */
export const AGENTS_PART = vitest("agents", "real agents against a scripted model", withServices, ["git"], 20 * MINUTE)

/** `unit e2e -g name` selects parts by their names; what follows goes to their runners. */
export function selectParts(args) {
  const isPart = (arg) => PARTS.some(({ name }) => name === arg)
  const firstOther = args.findIndex((arg) => !isPart(arg))
  const names = firstOther === -1 ? args : args.slice(0, firstOther)
  const extra = firstOther === -1 ? [] : args.slice(firstOther)
  if (names.length === 0 && extra.length > 0) {
    throw new Error(`Name a part first: npm test -- ${PARTS.map(({ name }) => name).join(" | ")} [arguments of its runner]`)
  }
  return { parts: names.length === 0 ? PARTS : PARTS.filter(({ name }) => names.includes(name)), extra }
}
