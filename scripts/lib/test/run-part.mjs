import { join } from "node:path"
import { capture, lastLines } from "../steps.mjs"

/** Runs one part to its end. Whatever goes wrong, the outcome says so: a crash, a hang and an empty part are failures. */
export async function runPart(part, { extra, env, folder, onLine }) {
  const started = performance.now()
  const resultsFile = join(folder, `${part.name}.json`)
  const [command, ...args] = part.command(extra, resultsFile)
  const { code, signal, output } = await capture(command, args, {
    env: { ...env, REWAKE_TEST_RESULTS: resultsFile },
    timeoutMs: part.timeoutMs,
    onLine: part.read === null ? undefined : onLine,
  })
  if (part.read === null) return code === 0 ? outcome(1) : outcome(0, [{ name: part.name, message: output }])

  const overdue = performance.now() - started >= part.timeoutMs
  const ended = overdue ? `ended after ${part.timeoutMs / 60_000} minutes` : `ended with ${signal ?? `code ${code}`}`
  let result
  try {
    result = part.read(resultsFile)
  } catch {
    return outcome(0, [{ name: part.name, message: `${lastLines(output)}\nno results; ${ended}` }])
  }
  if (code !== 0 && result.failures.length === 0) result.failures.push({ name: part.name, message: `${lastLines(output)}\n${ended}` })
  if (result.passed + result.failures.length === 0) result.failures.push({ name: part.name, message: "no test ran" })
  // Arguments such as -t leave tests out on purpose; a complete run may not.
  if (extra.length === 0 && result.skipped > 0) {
    result.failures.push({ name: part.name, message: `${result.skipped} skipped tests: a test that does not run proves nothing` })
  }
  return result
}

const outcome = (passed, failures = []) => ({ passed, skipped: 0, failures, times: [] })
