import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { RejectedFiles } from "../../../server/agentctl/rejected-files"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rewake-rejected-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test("beyond the limit of a session what comes is named and not kept, also after a restart of the daemon", async () => {
  const files = new RejectedFiles(folder, 100)
  const first = files.keep(Buffer.alloc(60, "a"))
  expect(first).toMatchObject({ bytes: 60, kept: true })
  expect(files.keep(Buffer.alloc(60, "b"))).toMatchObject({ bytes: 60, kept: false })
  expect(new RejectedFiles(folder, 100).keep(Buffer.alloc(41, "c"))).toMatchObject({ kept: false })
  expect(new RejectedFiles(folder, 100).keep(Buffer.alloc(40, "c"))).toMatchObject({ kept: true })
  expect(readdirSync(folder)).toHaveLength(2)
  expect(await files.find(first.sha256)).toMatchObject({ name: first.sha256 })
})

test("what a killed daemon had begun to write is removed", () => {
  writeFileSync(join(folder, "half.part"), "x")
  new RejectedFiles(folder, 100).keep(Buffer.from("y"))
  expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([])
})
