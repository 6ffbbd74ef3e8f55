import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { agentText, numbers, Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"

const LEASE_MS = 5_000

test("a server that slept longer than its lease, as on a closed laptop, goes on where it was: nobody else can hold its folder", async () => {
  const rewake = await Rewake.start({ durations: { leaseMs: LEASE_MS, leaseRenewalMs: 1_500, sweepMs: 1_000 } })
  try {
    const { task, session } = await rewake.createTask("remember nap")
    await rewake.waitForRuns(session.id, 1)
    await rewake.append(task.id, "count 50 20")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta" && event.content.includes(" 5"), "some numbers")
    const server = rewake.child
    const ended = server ? once(server, "exit") : null
    server?.kill("SIGSTOP")
    const asleepSince = Date.now()
    await waitUntil(() => Date.now() - asleepSince > LEASE_MS + 500, "the lease to expire")
    server?.kill("SIGCONT")
    const log = await rewake.waitForRuns(session.id, 2)
    expect(agentText(log)).toContain(numbers(50))
    expect(log.some((event) => event.kind === "run.interrupted")).toBe(false)
    // Two renewals after it woke: were they refused, the server would have ended.
    const renewals = () => (JSON.parse(readFileSync(join(rewake.dataDir, "journal.json"), "utf8")) as { renewals: number }).renewals
    const before = renewals()
    await waitUntil(() => renewals() >= before + 2, "two renewals")
    const outcome = await Promise.race([ended, Promise.resolve("still there")])
    expect(outcome).toBe("still there")
    expect((await fetch(`${rewake.url}/api/ready`)).status).toBe(200)
  } finally {
    await rewake.stop()
  }
})
