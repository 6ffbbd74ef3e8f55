// The parts of `npm test`, in order: how each is run, what it needs, and how its results are read.
import { inProject } from "../project.mjs"
import { readPlaywrightResults, readTortureResults, readVitestResults } from "./results.mjs"

const bin = (...path) => [process.execPath, inProject("node_modules", ...path)]
const MINUTE = 60_000

function check(name, program, args) {
  return { name, needs: [], timeoutMs: 10 * MINUTE, command: (extra) => [...program, ...args, ...extra], read: null }
}

function vitest(name, needs, timeoutMs) {
  return {
    name,
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

export const PARTS = [
  check("typecheck", bin("typescript", "bin", "tsc"), ["--noEmit", "--pretty", "false"]),
  check("lint", bin("@biomejs", "biome", "bin", "biome"), ["check", ".", "--diagnostic-level=error", "--max-diagnostics=20"]),
  vitest("unit", [], 10 * MINUTE),
  vitest("architecture", [], 5 * MINUTE),
  vitest("integration", ["postgres", "git", "zstd", "s3"], 30 * MINUTE),
  vitest("recovery", ["postgres", "git"], 45 * MINUTE),
  {
    name: "torture",
    needs: ["postgres", "git"],
    timeoutMs: 15 * MINUTE,
    // Seeds that found something once, then as many as fit into two minutes, the same plans for every change that is judged by
    // them; what chance may still find is looked for with `npm run torture`.
    command: (extra, resultsFile) => [
      ...[process.execPath, inProject("scripts", "torture.mjs"), "--known", "--seed", "164900", "--seconds", "120", "--length", "12"],
      ...["--shrink", "90", "--results", resultsFile, ...extra],
    ],
    read: readTortureResults,
  },
  {
    name: "e2e",
    needs: ["chromium", "git"],
    timeoutMs: 30 * MINUTE,
    command: (extra) => [...bin("@playwright", "test", "cli.js"), "test", ...extra],
    read: readPlaywrightResults,
  },
]

/** Not among the parts: its agents are large, and come from npm. */
export const AGENTS_PART = vitest("agents", ["git"], 20 * MINUTE)

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
