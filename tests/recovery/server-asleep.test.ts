import { once } from "node:events"
import { expect, test } from "vitest"
import { LEASE_MS } from "../../server/recovery/boot"
import { agentText, numbers, Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"

test("a server that slept longer than its lease, as on a closed laptop, goes on where it was: nobody else can hold its folder", async () => {
  const rewake = await Rewake.start({ database: "sqlite" })
  try {
    const { task, session } = await rewake.createTask("remember nap")
    await rewake.waitForRuns(session.id, 1)
    await rewake.append(task.id, "count 50 20")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta" && event.content.includes(" 5"), "some numbers")
    const server = rewake.child
    const ended = server ? once(server, "exit") : null
    server?.kill("SIGSTOP")
    const asleepSince = Date.now()
    await waitUntil(() => Date.now() - asleepSince > LEASE_MS + 2_000, "the lease to run out")
    server?.kill("SIGCONT")
    const log = await rewake.waitForRuns(session.id, 2)
    expect(agentText(log)).toContain(numbers(50))
    expect(log.some((event) => event.kind === "run.interrupted")).toBe(false)
    // Long enough for the next renewals to be refused, were they to be.
    await rewake.append(task.id, "count 30 300")
    await rewake.waitForRuns(session.id, 3)
    const outcome = await Promise.race([ended, Promise.resolve("still there")])
    expect(outcome).toBe("still there")
    expect((await fetch(`${rewake.url}/api/ready`)).status).toBe(200)
  } finally {
    await rewake.stop()
  }
})
