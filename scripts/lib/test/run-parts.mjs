// Parts of the tests in an environment that is gone afterwards; the last line is the sum.
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { prepare } from "../prepare.mjs"
import { endStepsOnSignal, seconds } from "../steps.mjs"
import { obtainTestEnvironment } from "./environment.mjs"
import { endLeftBehind } from "./left-behind.mjs"
import { runPart } from "./run-part.mjs"

const SHOWN_FAILURES = 30
const SHOWN_LINES = 25
const SHOWN_SLOWEST = 10
/** A test this quick is not worth a line among the slowest. */
const SLOW_MS = 1_000

/** Gives the exit code. `obtainMore` may add variables to the tests' environment; what it throws fails the run. */
export async function runParts(parts, { extra, steps, obtainMore = async () => ({}) }) {
  const started = performance.now()
  const results = await runAll(parts, extra, steps, obtainMore)
  for (const { name, message } of results.failures.slice(0, SHOWN_FAILURES)) {
    console.log(`\nFAILED ${name}\n${indent(message)}`)
  }
  if (results.failures.length > SHOWN_FAILURES) console.log(`\n… and ${results.failures.length - SHOWN_FAILURES} more failures`)
  showSlowest(results.times)
  console.log(`\nfinished in ${seconds(performance.now() - started)}`)
  console.log(`${results.passed} passed, ${results.failures.length} failed`)
  return results.failures.length === 0 ? 0 : 1
}

async function runAll(parts, extra, steps, obtainMore) {
  const run = randomUUID()
  const results = { passed: 0, failures: [], times: [] }
  let environment = { env: {}, stop: async () => {} }
  let more = {}
  const folder = mkdtempSync(join(tmpdir(), "rewake-test-"))
  const cleanUp = async () => {
    for (const process of endLeftBehind(`REWAKE_TEST_RUN=${run}`)) console.log(`  ended what a test left running: ${process}`)
    await environment.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const needs = [...new Set(parts.flatMap((part) => part.needs))]
    if (needs.length === 0) await prepare(steps, { upTo: "generate" })
    more = await obtainMore()
    if (needs.length > 0) environment = await obtainTestEnvironment(needs, steps)
  } catch (error) {
    steps.fail(error)
    await cleanUp()
    return { ...results, failures: [{ name: "preparation", message: "the tests could not be started; the reason is above" }] }
  }
  endStepsOnSignal(cleanUp)

  // Whatever tests put into the temporary folder goes when they end, also what a killed process left there.
  const color = process.stdout.isTTY ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" }
  const { NODE_ENV: _, FORCE_COLOR: __, ...inherited } = process.env
  const env = { ...inherited, ...environment.env, ...more, ...color, REWAKE_TEST_RUN: run, TMPDIR: folder }

  async function runOne(part) {
    const place = `[${parts.indexOf(part) + 1}/${parts.length}] ${part.name}`
    console.log(`${place}: ${part.about}`)
    const started = performance.now()
    const result = await runPart(part, { extra, env, folder, onLine: showLine })
    results.passed += result.passed
    results.failures.push(...result.failures)
    results.times.push(...result.times)
    const counts =
      part.read === null ? (result.passed === 1 ? "passed" : "failed") : `${result.passed} passed, ${result.failures.length} failed`
    console.log(`${place}: ${counts} in ${seconds(performance.now() - started)}`)
  }
  for (const stage of new Set(parts.map((part) => part.stage))) {
    const inStage = parts.filter((part) => part.stage === stage)
    const lanes = [...new Set(inStage.map((part) => part.lane))].map((lane) => inStage.filter((part) => part.lane === lane))
    await Promise.all(
      lanes.map(async (lane) => {
        for (const part of lane) await runOne(part)
      }),
    )
  }
  await cleanUp()
  return results
}

function showSlowest(times) {
  const slowest = times
    .filter(({ ms }) => ms >= SLOW_MS)
    .sort((a, b) => b.ms - a.ms)
    .slice(0, SHOWN_SLOWEST)
  if (slowest.length === 0) return
  console.log(`\nThe ${slowest.length} slowest tests`)
  for (const { name, ms } of slowest) console.log(`  ${seconds(ms).padStart(8)}  ${name}`)
}

/** The runners' own lines, without those that are the same every time. */
function showLine(line) {
  if (line.trim() !== "" && !/^ *(RUN +v|JSON report written|Start at)/.test(line)) console.log(`    ${line}`)
}

function indent(message) {
  const lines = message
    .trim()
    .split("\n")
    .filter((line) => !/^ +at (new Promise|.*node_modules)/.test(line))
  const shown = lines.slice(0, SHOWN_LINES)
  if (lines.length > SHOWN_LINES) shown.push(`… ${lines.length - SHOWN_LINES} more lines`)
  return shown.map((line) => `  ${line}`).join("\n")
}
