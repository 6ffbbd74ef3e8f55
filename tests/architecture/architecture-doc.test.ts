import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { pathsNamedIn } from "./named-paths"
import { root } from "./source-files"

describe("the documents", () => {
  test.each(["ARCHITECTURE.md", "README.md", "SECURITY.md", "docs/asvs.md"])("every path that %s names exists", (document) => {
    const missing = pathsNamedIn(readFileSync(join(root, document), "utf8")).filter((path) => !existsSync(join(root, path)))
    expect(missing).toEqual([])
  })
})

test("paths are told from other code words", () => {
  const text = [
    "The door is `server/journal/index.ts`, its folder `server/journal/`, routes are `app/api/v1/tasks/[taskId]/append/route.ts`.",
    "Two at once: `server/execution/{plan-resume,coordinator}.ts`. Not paths: `npm start`, `run.interrupted`, `GET /api/v1/tasks`,",
    "`DATA_DIR/bin/<build>/`, `session/load`, `lib/contracts/*.ts`, `text/plain`. At the root: `README.md`, `next.config.mjs`.",
    "```",
    "server/not-checked-in-a-picture.ts",
    "```",
  ].join("\n")
  expect(pathsNamedIn(text)).toEqual([
    "server/journal/index.ts",
    "server/journal/",
    "app/api/v1/tasks/[taskId]/append/route.ts",
    "server/execution/plan-resume.ts",
    "server/execution/coordinator.ts",
    "lib/contracts/",
    "README.md",
    "next.config.mjs",
  ])
})
