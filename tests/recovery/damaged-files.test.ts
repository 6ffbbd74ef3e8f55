import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { endsOf, ofKind } from "../support/events"
import { agentText, numbers } from "../support/server"
import { useServers } from "../support/use-servers"

const start = useServers()

describe("agentctl's published file is damaged", () => {
  const damages: Record<string, (file: string) => void> = {
    deleted: (file) => rmSync(file),
    cut: (file) => writeFileSync(file, readFileSync(file, "utf8").slice(0, 40)),
  }

  for (const [what, damage] of Object.entries(damages)) {
    test(`[7] ${what} while the server is down: the next server finds the same agent, whose run goes on`, async () => {
      const rewake = await start()
      const { session } = await rewake.createTask("count 150 20")
      const before = await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "a number")
      const daemon = rewake.daemon()
      const file = join(rewake.dataDir, "run/agentctl.json")
      await rewake.kill9()
      damage(file)
      await rewake.boot()
      const log = await rewake.waitForRuns(session.id, 1)
      expect(endsOf(log)).toEqual(["run.completed"])
      expect(agentText(log)).toContain(numbers(150))
      expect(ofKind(log, "agent.started")).toEqual(ofKind(before, "agent.started"))
      expect(ofKind(log, "executor.error")).toEqual([])
      expect(rewake.daemon()).toEqual(daemon)
    })
  }

  test("[7] deleted while the server runs: a new task waits for the daemon and starts no other", async () => {
    const rewake = await start()
    const first = await rewake.createTask("remember kiwi")
    await rewake.waitForRuns(first.session.id, 1)
    const daemon = rewake.daemon()
    rmSync(join(rewake.dataDir, "run/agentctl.json"))
    const second = await rewake.createTask("say hello")
    expect(endsOf(await rewake.waitForRuns(second.session.id, 1))).toEqual(["run.completed"])
    expect(rewake.daemon()).toEqual(daemon)
    expect(ofKind(await rewake.events(second.session.id), "executor.error")).toEqual([])
  })
})
