import { rmSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { SessionStatusReport } from "../../lib/contracts/status"
import { processStartTime } from "../../lib/host/process-identity"
import { damages } from "../support/damages"
import { endsOf, ofKind } from "../support/events"
import { agentText, numbers } from "../support/server"
import { useServers } from "../support/use-servers"
import { waitUntil } from "../support/wait-until"

const start = useServers()

describe("agentctl's published file is damaged", () => {
  for (const what of ["deleted", "cut in half"]) {
    test(`[7] ${what} while the server is down: the next server finds the same agent, whose run goes on`, async () => {
      const rewake = await start()
      const { session } = await rewake.createTask("count 150 20")
      const before = await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "a number")
      const daemon = rewake.daemon()
      const file = join(rewake.dataDir, "run/agentctl.json")
      await rewake.kill9()
      damages[what]?.(file)
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

describe("the daemon's own file about a session is damaged", () => {
  test("[2] the next daemon learns it from the server: workspace and memory are kept, beside a healthy session", async () => {
    const rewake = await start({ env: { AUTO_RESUME: "off" } })
    const healthy = await rewake.createTask("remember plum")
    const hurt = await Promise.all(
      Object.entries(damages).map(async ([what, damage]) => ({ what, damage, ...(await rewake.createTask("remember kiwi")) })),
    )
    for (const { session } of [healthy, ...hurt]) await rewake.waitForRuns(session.id, 1)
    const placeOf = async (id: string) => (await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${id}/status`)).body.worktree_path
    const places = new Map<string, string | null>()
    for (const { session } of hurt) places.set(session.id, await placeOf(session.id))
    const { pid, start_time } = rewake.daemon()
    await rewake.kill9()
    process.kill(pid, "SIGKILL")
    await waitUntil(() => processStartTime(pid) !== start_time, "agentctl to be gone")
    for (const { session, damage } of hurt) damage(join(rewake.dataDir, `sessions/${session.id}.state.json`))
    await rewake.boot()
    // Nothing was woken for this: reconciling is enough.
    for (const { session, what } of hurt) {
      expect((await rewake.api("GET", `/api/v1/sessions/${session.id}/files?path=`)).status, what).toBe(200)
      expect(await placeOf(session.id), what).toBe(places.get(session.id))
    }
    for (const { task, session, what } of [...hurt, { ...healthy, what: "healthy" }]) {
      await rewake.append(task.id, "recall")
      const log = await rewake.waitForRuns(session.id, 2)
      expect(agentText(log), what).toContain("I remember:")
      expect(endsOf(log), what).toEqual(["run.completed", "run.completed"])
      expect(ofKind(log, "executor.error"), what).toEqual([])
      expect(ofKind(log, "agent.exited"), what).toHaveLength(1)
    }
  })
})
