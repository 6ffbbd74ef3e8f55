import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { Scrollback } from "../../../server/agentctl/pty/scrollback"

const SEGMENT = randomBytes(1024 * 1024)
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rewake-scrollback-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test("segments closed while others are compressed are compressed by the next call", async () => {
  const scrollback = await Scrollback.open(folder)
  for (let i = 0; i < 3; i++) await scrollback.append(SEGMENT)
  const first = scrollback.pack()
  for (let i = 0; i < 2; i++) await scrollback.append(SEGMENT)
  await Promise.all([first, scrollback.pack()])
  expect(readdirSync(folder).filter((name) => name.endsWith(".raw"))).toHaveLength(1)
  await scrollback.close()
})
