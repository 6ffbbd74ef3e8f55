// Parts of the tests, one after the other, in an environment that is gone afterwards; the last line is the sum.
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { prepare } from "../prepare.mjs"
import { obtainServices } from "../services/obtain.mjs"
import { endStepsOnSignal, seconds } from "../steps.mjs"
import { endLeftBehind } from "./left-behind.mjs"
import { runPart } from "./run-part.mjs"

const SHOWN_FAILURES = 30
const SHOWN_LINES = 25

/** Gives the exit code. `obtainMore` may add variables to the tests' environment; what it throws fails the run. */
export async function runParts(parts, { extra, steps, obtainMore = async () => ({}) }) {
  const started = performance.now()
  const results = await runAll(parts, extra, steps, obtainMore)
  for (const { name, message } of results.failures.slice(0, SHOWN_FAILURES)) {
    console.log(`\nFAILED ${name}\n${indent(message)}`)
  }
  if (results.failures.length > SHOWN_FAILURES) console.log(`\n… and ${results.failures.length - SHOWN_FAILURES} more failures`)
  console.log(`\nfinished in ${seconds(performance.now() - started)}`)
  console.log(`${results.passed} passed, ${results.failures.length} failed`)
  return results.failures.length === 0 ? 0 : 1
}

async function runAll(parts, extra, steps, obtainMore) {
  const run = randomUUID()
  const results = { passed: 0, failures: [] }
  const needs = new Set(parts.flatMap((part) => part.needs))
  let services = { env: {}, stop: async () => {} }
  let more = {}
  const folder = mkdtempSync(join(tmpdir(), "rewake-test-"))
  const cleanUp = async () => {
    for (const process of endLeftBehind(`REWAKE_TEST_RUN=${run}`)) console.log(`  ended what a test left running: ${process}`)
    await services.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    await prepare(steps, { upTo: parts.some((part) => part.needs.length > 0) ? "build" : "generate" })
    more = await obtainMore()
    services = await obtainServices([...needs], steps)
  } catch (error) {
    steps.fail(error)
    await cleanUp()
    return { passed: 0, failures: [{ name: "preparation", message: "the tests could not be started; the reason is above" }] }
  }
  endStepsOnSignal(cleanUp)

  // Whatever tests put into the temporary folder goes when they end, also what a killed process left there.
  const color = process.stdout.isTTY ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" }
  const { NODE_ENV: _, FORCE_COLOR: __, ...inherited } = process.env
  const env = { ...inherited, ...services.env, ...more, ...color, REWAKE_TEST_RUN: run, TMPDIR: folder }
  for (const part of parts) {
    const partStarted = performance.now()
    const result = await runPart(part, { extra, env, folder, onLine: showLine })
    results.passed += result.passed
    results.failures.push(...result.failures)
    const counts =
      part.read === null ? (result.passed === 1 ? "passed" : "failed") : `${result.passed} passed, ${result.failures.length} failed`
    steps.say(part.name, `${counts} in ${seconds(performance.now() - partStarted)}`)
  }
  await cleanUp()
  return results
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
