import { describe, expect, test } from "vitest"
import { importProblem, MAY_READ_ENVIRONMENT, packageProblem, placeProblem } from "./layers"
import { importsOf, PRODUCT_FOLDERS, readsEnvironment, sourceFiles } from "./source-files"

const files = sourceFiles(PRODUCT_FOLDERS, /\.tsx?$/)
const paths = new Set([...files, ...sourceFiles(["prisma", "scripts", "tests"], /\.(ts|mjs)$/)].map(({ path }) => path))

describe("the product", () => {
  test("imports only in the direction of the map", () => {
    const problems = files.flatMap((file) => {
      const { ours, packages } = importsOf(file, (path) => paths.has(path))
      return [
        ...ours.map((target) => [target, importProblem(file.path, target)] as const),
        ...packages.map((name) => [name, packageProblem(file.path, name)] as const),
      ].flatMap(([target, problem]) => (problem === null ? [] : [`${file.path} imports ${target}: ${problem}`]))
    })
    expect(problems).toEqual([])
  })

  test("has a place on the map for every file", () => {
    expect(files.flatMap(({ path }) => placeProblem(path) ?? [])).toEqual([])
  })

  test("reads the environment in the listed places only", () => {
    const readers = files.filter(readsEnvironment).map(({ path }) => path)
    expect(readers.filter((path) => !MAY_READ_ENVIRONMENT.includes(path))).toEqual([])
  })

  test("is not empty", () => {
    expect(files.length).toBeGreaterThan(50)
  })
})

describe("the rules", () => {
  test.each([
    ["server/journal/commit.ts", "server/realtime/index.ts", "rank 1"],
    ["server/status/derive-status.ts", "server/auth/index.ts", "rank 2"],
    ["server/platform/clock.ts", "server/journal/index.ts", "rank 0"],
    ["server/sessions/append-message.ts", "server/journal/read.ts", "index.ts"],
    ["server/sessions/append-message.ts", "server/services.ts", "rank 5"],
    ["server/sessions/append-message.ts", "server/agentctl/spool.ts", "program of its own"],
    ["server/agents/registry.ts", "server/agents/demo/main.ts", "program of its own"],
    ["server/agentctl/main.ts", "server/platform/database.ts", "server/agentctl may import"],
    ["server/agents/demo/main.ts", "server/agents/agent.ts", "server/agents/demo may import"],
    ["server/sessions/create-task.ts", "prisma/generated/sqlite/client.ts", "Prisma"],
    ["server/sessions/create-task.ts", "lib/client/api.ts", "lib/client"],
    ["components/session/view.tsx", "server/services.ts", "components may import"],
    ["components/session/view.tsx", "lib/host/folder-lock.ts", "components may import"],
    ["app/(workbench)/tasks/page.tsx", "server/services.ts", "app may import"],
    ["app/api/v1/tasks/route.ts", "server/sessions/index.ts", "app/api may import"],
    ["app/api/v1/tasks/route.ts", "components/ui/button.tsx", "app/api may import"],
    ["lib/contracts/events.ts", "lib/client/api.ts", "nothing of ours"],
    ["lib/host/folder-lock.ts", "lib/contracts/events.ts", "nothing of ours"],
    ["server/main.ts", "tests/support/builders.ts", "nothing imports tests"],
    ["server/main.ts", "scripts/build.mjs", "build scripts"],
  ])("%s may not import %s", (file, target, reason) => {
    expect(importProblem(file, target)).toContain(reason)
  })

  test.each([
    ["server/realtime/gateway.ts", "server/journal/index.ts"],
    ["server/sessions/append-message.ts", "server/platform/ids.ts"],
    ["server/journal/commit.ts", "server/journal/read.ts"],
    ["server/main.ts", "server/wiring.ts"],
    ["server/http/route.ts", "server/services.ts"],
    ["server/services.ts", "server/execution/index.ts"],
    ["server/agentctl/main.ts", "lib/host/folder-lock.ts"],
    ["server/platform/database.ts", "prisma/generated/sqlite/client.ts"],
    ["app/api/v1/tasks/route.ts", "server/http/index.ts"],
    ["app/api/v1/tasks/route.ts", "server/http/route.ts"],
    ["app/(workbench)/tasks/page.tsx", "components/task/list.tsx"],
    ["components/task/list.tsx", "lib/assert-never.ts"],
  ])("%s may import %s", (file, target) => {
    expect(importProblem(file, target)).toBeNull()
  })

  test.each([
    ["server/sessions/create-task.ts", "pg"],
    ["server/agentctl/spool.ts", "better-sqlite3"],
    ["server/auth/options.ts", "@prisma/client"],
    ["lib/contracts/events.ts", "node:crypto"],
    ["components/session/view.tsx", "node:fs"],
  ])("%s may not use the package %s", (file, name) => {
    expect(packageProblem(file, name)).not.toBeNull()
  })

  test.each([
    ["server/main.ts", "server/telemetry/index.ts"],
    ["server/telemetry/index.ts", "server/platform/ids.ts"],
    ["server/telemetry.ts", "server/journal/index.ts"],
  ])("an unlisted module of the server has no place: %s imports %s", (file, target) => {
    expect(importProblem(file, target)).toContain("server/telemetry has no rank")
  })
  test.each(["server/telemetry/index.ts", "server/telemetry.ts"])("%s is refused although it imports nothing", (file) => {
    expect(placeProblem(file)).toContain("server/telemetry has no rank")
  })

  test("imports are found however they are written", () => {
    const text = [
      'import { a } from "@/server/journal"',
      'import type { B } from "../status/derive-status"',
      'export * from "./read"',
      'const c = await import("@/lib/contracts/events")',
      'import pg from "pg"',
      'import "@prisma/client/runtime/client"',
      '// import "commented"',
    ].join("\n")
    const exists = (path: string) => ["server/journal/index.ts", "server/status/derive-status.ts", "lib/contracts/events.ts"].includes(path)
    expect(importsOf({ path: "server/sessions/x.ts", text }, exists)).toEqual({
      ours: ["server/journal/index.ts", "server/status/derive-status.ts", "server/sessions/read", "lib/contracts/events.ts"],
      packages: ["pg", "@prisma/client"],
    })
  })

  test("reading the environment is found in code, not in comments and strings", () => {
    const reads = (text: string) => readsEnvironment({ path: "server/x.ts", text })
    expect(reads("const port = process.env.PORT")).toBe(true)
    expect(reads('const port = process.env["PORT"]')).toBe(true)
    expect(reads('import { env } from "node:process"')).toBe(true)
    expect(reads("// never process.env\nconst s = 'process.env'")).toBe(false)
  })
})
