import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { PARTS, selectParts } from "../../../scripts/lib/test/parts.mjs"
import { readPlaywrightResults, readVitestResults } from "../../../scripts/lib/test/results.mjs"

const folder = mkdtempSync(join(tmpdir(), "rewake-results-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(content: object): string {
  const path = join(folder, "results.json")
  writeFileSync(path, JSON.stringify(content))
  return path
}

describe("choosing what to run", () => {
  const select = (...args: string[]) => {
    const { parts, extra } = selectParts(args)
    return [parts.map(({ name }) => name), extra]
  }
  test("everything when nothing is named", () => expect(select()).toEqual([PARTS.map(({ name }) => name), []]))
  test("named parts in their own order", () => expect(select("recovery", "unit")).toEqual([["unit", "recovery"], []]))
  test("what follows goes to the runner", () => expect(select("e2e", "-g", "unit")).toEqual([["e2e"], ["-g", "unit"]]))
  test("arguments for nobody are refused", () => expect(() => select("-g", "name")).toThrow("Name a part first"))
})

describe("counting", () => {
  test("a file that cannot be loaded is a failure", () => {
    const results = readVitestResults(
      file({ testResults: [{ name: "a.test.ts", status: "failed", message: "no such module", assertionResults: [] }] }),
    )
    expect(results).toEqual({ passed: 0, skipped: 0, failures: [{ name: "a.test.ts", message: "no such module" }], times: [] })
  })

  test("vitest: passed, failed and left out", () => {
    const tests = [
      { status: "passed", fullName: "one", failureMessages: [], duration: 12 },
      { status: "failed", fullName: "two", failureMessages: ["because"] },
      { status: "todo", fullName: "three", failureMessages: [] },
    ]
    const results = readVitestResults(
      file({ testResults: [{ name: "a.test.ts", status: "failed", message: "", assertionResults: tests }] }),
    )
    expect(results).toEqual({
      passed: 1,
      skipped: 1,
      failures: [{ name: "a.test.ts > two", message: "because" }],
      times: [
        { name: "a.test.ts > one", ms: 12 },
        { name: "a.test.ts > two", ms: 0 },
        { name: "a.test.ts > three", ms: 0 },
      ],
    })
  })

  test("playwright: nested suites, and a test that passed only at the second attempt is a failure", () => {
    const spec = (title: string, status: string, message?: string) => ({
      title,
      tests: [{ status, results: [{ errors: message ? [{ message }] : [], duration: 5 }] }],
    })
    const suites = [
      {
        title: "a.spec.ts",
        specs: [spec("one", "expected")],
        suites: [{ title: "inside", specs: [spec("two", "flaky", "late"), spec("three", "skipped")] }],
      },
    ]
    const results = readPlaywrightResults(file({ suites, errors: [{ message: "broken config" }] }))
    expect(results).toEqual({
      passed: 1,
      skipped: 1,
      failures: [
        { name: "e2e", message: "broken config" },
        { name: "a.spec.ts > inside > two", message: "late" },
      ],
      times: ["one", "inside > two", "inside > three"].map((name) => ({ name: `a.spec.ts > ${name}`, ms: 5 })),
    })
  })
})
