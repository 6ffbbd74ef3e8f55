import type { AgentctlClient } from "../executors"
import { update } from "../journal"
import type { Attached, ExecutionDeps, Live } from "./context"
import { createIngest } from "./ingest"
import { foldOpenItems, NOTHING_OPEN, type OpenItems } from "./open-items"
import { type ReaderEnd, startSpoolReader } from "./spool-reader"

const PAGE = 2_000

/** Starts reading the session's spool from the journal's cursor, unless this daemon's spool is being read already. */
export async function attach(
  deps: ExecutionDeps,
  live: Live,
  client: AgentctlClient,
  spool_id: string,
  on: { end: (end: ReaderEnd) => void; runEnded: () => void },
): Promise<Attached> {
  if (live.reader && live.reader.client.endpoint.instance_id === client.endpoint.instance_id) return { client, reader: live.reader }
  await live.reader?.stop()
  live.reader = null

  const { id } = live.owned.ref
  const session = await deps.db.session.findUniqueOrThrow({ where: { id } })
  const cursor = { spool_id, n: session.spool_id === spool_id ? session.spool_seq : 0 }
  if (session.spool_id !== spool_id) {
    // A spool never read before is read from its start; the old cursor says nothing about it.
    const { boot_id, epoch } = live.owned
    await deps.journal.write([
      update("sessions", { id, owner_boot_id: boot_id, owner_epoch: epoch, spool_id: session.spool_id }, { spool_id, spool_seq: 0 }),
    ])
  }
  const ingest = createIngest(
    { journal: deps.journal, db: deps.db, agents: deps.agents, mint: deps.mint, onRunEnded: on.runEnded },
    live.owned,
    cursor,
    await openItemsOf(deps, id, session.run_first_seq),
  )
  live.reader = startSpoolReader({ client, owned: live.owned, ingest, logger: deps.logger, onEnd: on.end })
  return { client, reader: live.reader }
}

/** Bounded by the open run: what came before it is closed. */
export async function openItemsOf(deps: ExecutionDeps, sessionId: string, firstSeq: number | null): Promise<OpenItems> {
  let items = NOTHING_OPEN
  if (firstSeq === null) return items
  for (let after = firstSeq - 1; ; ) {
    const { events, more } = await deps.journal.read(sessionId, after, PAGE)
    for (const event of events) items = foldOpenItems(items, event)
    const last = events.at(-1)
    if (!last || !more) return items
    after = last.seq
  }
}
