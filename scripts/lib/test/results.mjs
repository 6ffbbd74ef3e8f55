// Reads what the runners wrote: {passed, skipped, failures: [{name, message}], times: [{name, ms}]}.
import { readFileSync } from "node:fs"

export function readVitestResults(file) {
  const { testResults } = JSON.parse(readFileSync(file, "utf8"))
  const outcome = { passed: 0, skipped: 0, failures: [], times: [] }
  for (const { name, status, message, assertionResults } of testResults) {
    for (const test of assertionResults) {
      outcome.times.push({ name: `${relative(name)} > ${test.fullName}`, ms: test.duration ?? 0 })
      if (test.status === "passed") outcome.passed++
      else if (test.status === "failed")
        outcome.failures.push({ name: `${relative(name)} > ${test.fullName}`, message: test.failureMessages.join("\n") })
      else outcome.skipped++
    }
    // The file itself failed: it could not be loaded, or a hook outside its tests threw.
    if (status === "failed" && !assertionResults.some((test) => test.status === "failed"))
      outcome.failures.push({ name: relative(name), message })
  }
  return outcome
}

/** The torture tool writes what the runner reads. */
export const readTortureResults = (file) => JSON.parse(readFileSync(file, "utf8"))

export function readPlaywrightResults(file) {
  const { suites, errors } = JSON.parse(readFileSync(file, "utf8"))
  const outcome = { passed: 0, skipped: 0, failures: errors.map(({ message }) => ({ name: "e2e", message: message ?? "" })), times: [] }
  for (const { title, test } of suites.flatMap((suite) => specsOf(suite, []))) {
    outcome.times.push({ name: title, ms: test.results.reduce((sum, { duration = 0 }) => sum + duration, 0) })
    if (test.status === "expected") outcome.passed++
    else if (test.status === "skipped") outcome.skipped++
    else
      outcome.failures.push({
        name: title,
        message: test.results.flatMap((result) => result.errors.map((error) => error.message)).join("\n"),
      })
  }
  return outcome
}

function specsOf({ title, specs, suites = [] }, parents) {
  const path = [...parents, title]
  const own = specs.flatMap((spec) => spec.tests.map((test) => ({ title: [...path, spec.title].join(" > "), test })))
  return [...own, ...suites.flatMap((suite) => specsOf(suite, path))]
}

const relative = (file) => file.replace(`${process.cwd()}/`, "")
