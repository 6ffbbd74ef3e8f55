import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { ofKind } from "../support/events"
import { Rewake } from "../support/server"

let rewake: Rewake
let programs: string
beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), "rewake-agents-"))
  rewake = await Rewake.start({ env: { PATH: `${programs}${delimiter}${process.env.PATH}` } })
})
afterAll(async () => {
  await rewake?.stop()
  rmSync(programs, { recursive: true, force: true })
})

test.each([
  ["loads its session and repeats nothing of it", "loads-nothing"],
  ["resumes a session that it does not list", "resumes-nothing"],
])("an agent that %s is not called native: its id is put aside and it goes on without memory", async (_, mode) => {
  writeFileSync(join(programs, "gemini"), `#!/bin/sh\nexec "${process.execPath}" "${resolve("tests/support/odd-agent.mjs")}" ${mode}\n`)
  chmodSync(join(programs, "gemini"), 0o755)
  const { task, session } = await rewake.createTask("hello", { agent: "gemini" })
  const before = await rewake.waitForRuns(session.id, 1)
  process.kill(ofKind(before, "agent.started")[0]?.pid ?? 0, "SIGKILL")
  await rewake.waitForEvent(session.id, (event) => event.kind === "agent.exited", "the agent's end")
  await rewake.append(task.id, "again")
  const log = await rewake.waitForRuns(session.id, 2)
  expect(ofKind(log, "agent.session_retired")).toMatchObject([
    { agent_session_id: "odd", reason: expect.stringContaining("nothing of the") },
  ])
  const receipt = ofKind(log, "recovery.receipt").at(-1)
  expect(receipt?.agent_memory).not.toBe("native")
  expect(receipt?.attempts).toMatchObject([{ strategy: "native", outcome: "agent_session_forgotten" }, { outcome: "ok" }])
  expect(ofKind(log, "message.user").map((event) => event.content)).toEqual(["hello", "again"])
  expect(ofKind(log, "run.completed")).toHaveLength(2)
})
