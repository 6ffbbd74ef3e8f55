import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { makePrivate } from "../../../server/platform/private-files"

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "rewake-private-"))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const folder = (name: string, mode = 0o755) => {
  mkdirSync(join(dir, name), { recursive: true })
  chmodSync(join(dir, name), mode)
}
const file = (name: string, mode = 0o644) => {
  writeFileSync(join(dir, name), "")
  chmodSync(join(dir, name), mode)
}
const modeOf = (name: string) => statSync(join(dir, name)).mode & 0o777

test("everything of Rewake's own is closed to others, and users' files keep their modes", () => {
  chmodSync(dir, 0o755)
  for (const name of ["rewake.db", "rewake.db-wal", "rewake.db-shm", "auth-secret", "journal.json"]) file(name)
  for (const name of ["run", "sessions", "sessions/sess_1.ptys", "logs", "workspaces", "workspaces/1", "repositories", "agents"])
    folder(name)
  for (const name of ["run/server.json", "sessions/sess_1.messages.jsonl", "sessions/sess_1.ptys/0", "logs/agentctl.log"]) file(name)
  file("workspaces/1/shared.txt", 0o664)
  const { corrected, failed } = makePrivate(dir, join(dir, "rewake.db"))
  for (const name of [".", "run", "sessions", "sessions/sess_1.ptys", "logs", "workspaces", "repositories", "agents"])
    expect([name, modeOf(name)]).toEqual([name, 0o700])
  for (const name of ["rewake.db", "rewake.db-wal", "rewake.db-shm", "auth-secret", "journal.json"])
    expect([name, modeOf(name)]).toEqual([name, 0o600])
  for (const name of ["run/server.json", "sessions/sess_1.messages.jsonl", "sessions/sess_1.ptys/0", "logs/agentctl.log"])
    expect([name, modeOf(name)]).toEqual([name, 0o600])
  expect([modeOf("workspaces/1"), modeOf("workspaces/1/shared.txt")]).toEqual([0o755, 0o664])
  expect([corrected.length, failed]).toEqual([17, []])
  expect(makePrivate(dir, join(dir, "rewake.db"))).toEqual({ corrected: [], failed: [] })
})

test("a link is not followed", () => {
  folder("elsewhere")
  symlinkSync(join(dir, "elsewhere"), join(dir, "sessions"))
  makePrivate(dir, null)
  expect(modeOf("elsewhere")).toBe(0o755)
})
