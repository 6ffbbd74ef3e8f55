import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { SpoolRecord } from "../../lib/contracts/agentctl/protocol"
import { createIngest } from "../../server/execution/ingest"
import { NOTHING_OPEN } from "../../server/execution/open-items"
import type { Journal } from "../../server/journal"
import { update } from "../../server/journal"
import { createStore, makeSession, openJournalOver, started } from "../support/journal"
import { DATABASES } from "../support/server"

describe.each(DATABASES)("a server ends a run by its own decision, on %s", (database) => {
  let store: Awaited<ReturnType<typeof createStore>>
  let open: Awaited<ReturnType<typeof openJournalOver>>
  beforeAll(async () => {
    store = await createStore(database)
    open = await openJournalOver(store.store)
  })
  afterAll(async () => {
    await open.close()
    await store.drop()
  })

  const delta = (n: number): SpoolRecord => {
    const ts = new Date().toISOString()
    return { n, ts, kind: "message.delta", run_id: "run_1", message_id: "msg_1", role: "agent", content: `${n} ` }
  }

  test("output that is on its way into the journal meanwhile is written before the end, or not at all", async () => {
    const { journal, db } = open
    const ref = await makeSession(journal)
    await journal.commit({
      session: ref,
      rows: [update("sessions", { id: ref.id }, { owner_boot_id: "boot_1", owner_epoch: 1, spool_id: "spl_1" })],
      events: [started("run_1")],
    })
    const ingest = createIngest(
      { journal, db, agents: {} as never, mint: () => ({}) as never, onRunEnded: () => {} },
      { ref, boot_id: "boot_1", epoch: 1 },
      { spool_id: "spl_1", n: 0 },
      NOTHING_OPEN,
    )
    const writing: Promise<unknown>[] = []
    const read = (async () => {
      for (let n = 1; n <= 60; n++) await ingest.take([delta(n)])
    })()
    writing.push(read)
    await waitForEvents(journal, ref.id, 10)
    await ingest.endRun("run_1", async () => {
      await journal.commit({ session: ref, events: [{ kind: "run.interrupted", run_id: "run_1", reason: "wait_timeout" }] })
    })
    await Promise.all(writing)
    const { events } = await journal.read(ref.id, 0, 1000)
    expect(events.at(-1)?.kind).toBe("run.interrupted")
    expect(events.length).toBeLessThan(60)
    expect((await db.session.findUniqueOrThrow({ where: { id: ref.id } })).spool_seq).toBe(60)
  })
})

async function waitForEvents(journal: Journal, sessionId: string, count: number): Promise<void> {
  if ((await journal.head(sessionId)) >= count) return
  await new Promise<void>((resolve) => {
    const stop = journal.follow((_ref, events) => {
      if ((events.at(-1)?.seq ?? 0) < count) return
      stop()
      resolve()
    })
  })
}
