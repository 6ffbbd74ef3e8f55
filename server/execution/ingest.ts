import { createHash } from "node:crypto"
import type { SpoolRecord } from "../../lib/contracts/agentctl/protocol"
import { type EventOf, isTerminalKind, type NewEvent, type TerminalKind } from "../../lib/contracts/events"
import { killPoint } from "../../lib/host/kill-point"
import type { AgentRegistry } from "../agents"
import { type Change, guard, isConflict, type Journal, StoreRefused, update, updateAny } from "../journal"
import type { Database } from "../platform/database"
import { createKeyedQueue } from "../platform/keyed-queue"
import type { Minted } from "../resume-tokens"
import { type Decisive, type ExplainedFailure, type Found, interpret, isAside, isPlain, plainEvent } from "./interpret"
import { closeMessage, foldOpenItems, type OpenItems, withoutRun } from "./open-items"
import { Fenced, type Owned } from "./ownership"
import { loadSession, toFacts } from "./session-facts"
import { taskAtRest } from "./task-rows"

export type Cursor = { spool_id: string; n: number }
type Deps = { journal: Journal; db: Database; agents: AgentRegistry; mint: () => Minted; onRunEnded: () => void }

/**
 * Spool → journal, each record exactly once: the cursor moves by compare-and-set in the very transaction that appends
 * what was read, so whatever dies in between, the next reader starts where the journal ends.
 */
export function createIngest(deps: Deps, owned: Owned, cursor: Cursor, openItems: OpenItems) {
  let items = openItems
  /** Runs met in this spool, and whether their end is in the journal already. */
  const ended = new Map<string, boolean>()
  /** Output and the end of its run are written one after the other: on its way at the same time, output would land behind the end. */
  const turns = createKeyedQueue()
  const inTurn = <T>(write: () => Promise<T>) => turns.run(owned.ref.id, write)

  /** Whoever ended the run closed what was open in it: kept here, it would be closed once more with whatever comes next. */
  function runClosed(run_id: string) {
    ended.set(run_id, true)
    items = withoutRun(items, run_id)
  }

  /** Output of a run that was given up: shown now it would look as if the agent were at work. Its outcome is told by `run.late_outcome`. */
  async function comesTooLate(record: SpoolRecord): Promise<boolean> {
    const run_id = "run_id" in record ? record.run_id : null
    if (run_id === null) return false
    const known = ended.get(run_id) ?? (await hasEnded(deps.db, run_id))
    ended.set(run_id, known)
    return known
  }

  /** In the order of things the journal knows of a run before the daemon does. One it never heard of is from before a backup was restored. */
  async function foundIn(record: Decisive, openRun: string | null): Promise<Found | null> {
    if (record.kind !== "prompt.accepted" || record.run_id === openRun || (await hasEnded(deps.db, record.run_id))) return null
    const prompt = await deps.db.prompt.findUnique({ where: { id: record.prompt_id }, select: { state: true } })
    const place = prompt?.state === "queued" || prompt?.state === "held" ? prompt.state : null
    return { prompt: place, boot_id: owned.boot_id, spool_id: cursor.spool_id }
  }

  /** Agents have no common errors; what one's own words mean is known of it. */
  const explained = (record: Decisive, agent: string): Decisive | ExplainedFailure =>
    record.kind === "turn.failed" && record.reason === "agent_error"
      ? { ...record, reason: deps.agents.trouble(agent, record.message) ?? record.reason }
      : record

  const moveCursor = (to: number) =>
    update(
      "sessions",
      { id: owned.ref.id, owner_boot_id: owned.boot_id, owner_epoch: owned.epoch, spool_id: cursor.spool_id, spool_seq: cursor.n },
      { spool_seq: to },
    )

  async function append(events: NewEvent[], to: number, rows: Change[] = []) {
    killPoint("ingest.read")
    const committed = await deps.journal.commit({ session: owned.ref, guards: [moveCursor(to)], rows, events })
    killPoint("ingest.committed")
    cursor.n = to
    for (const event of committed.events) items = foldOpenItems(items, event)
    const ends = committed.events.filter((event): event is EventOf<TerminalKind> => isTerminalKind(event.kind))
    for (const { run_id } of ends) runClosed(run_id)
    if (ends.length > 0) deps.onRunEnded()
  }

  /** A record the database refuses must not block those behind it: its place is kept by what it was. */
  async function appendOrReject(record: SpoolRecord, write: () => Promise<void>) {
    try {
      await write()
    } catch (error) {
      if (!(error instanceof StoreRefused)) throw error
      const sha256 = createHash("sha256").update(JSON.stringify(record)).digest("hex")
      await append([{ kind: "record.rejected", sha256, reason: error.message }], record.n)
    }
  }

  async function takeDecisive(record: Decisive): Promise<void> {
    for (;;) {
      const loaded = await loadSession(deps.db, owned.ref.id)
      if (!loaded || loaded.session.owner_epoch !== owned.epoch || loaded.session.owner_boot_id !== owned.boot_id)
        throw new Fenced(owned.ref.id)
      const { session } = loaded
      const events = interpret(
        explained(record, session.agent),
        toFacts(loaded),
        items,
        deps.mint,
        await foundIn(record, session.open_run_id),
      )
      const unchanged = guard("sessions", {
        id: session.id,
        state: session.state,
        open_run_id: session.open_run_id,
        cancel_requested: session.cancel_requested,
        open_waits: session.open_waits,
      })
      const rows = [unchanged, ...rowsBeside(record, events)]
      try {
        return await append(events, record.n, rows)
      } catch (error) {
        // A person acted between the look and the commit: look again.
        if (!isConflict(error)) throw error
      }
    }
  }

  function rowsBeside(record: Decisive, events: NewEvent[]): Change[] {
    const confirmed =
      record.kind === "permission.resolved"
        ? [updateAny("resume_tokens", { session_id: owned.ref.id, request_id: record.permission_id }, { confirmed_at: record.ts })]
        : []
    return [...confirmed, ...(events.some((event) => isTerminalKind(event.kind)) ? [taskAtRest(owned.ref.task_id, record.ts)] : [])]
  }

  async function take(records: readonly SpoolRecord[]): Promise<void> {
    let pending: { record: SpoolRecord; events: NewEvent[] }[] = []
    let pendingDelta: string | null = null

    const flush = () => inTurn(flushInTurn)
    async function flushInTurn() {
      const batch = pending
      pending = []
      pendingDelta = null
      const last = batch.at(-1)
      if (!last) return
      try {
        await append(
          batch.flatMap(({ events }) => inTime(events)),
          last.record.n,
        )
      } catch (error) {
        if (!(error instanceof StoreRefused)) throw error
        for (const { record, events } of batch) await appendOrReject(record, () => append(inTime(events), record.n))
      }
    }
    /** The run may have been ended by this server since the record was read. */
    const inTime = (events: NewEvent[]) => events.filter((event) => !("run_id" in event && event.run_id && ended.get(event.run_id)))

    for (const record of records) {
      if (record.n <= cursor.n) continue
      if (!isPlain(record)) {
        await flush()
        await appendOrReject(record, () => takeDecisive(record))
        continue
      }
      if (await comesTooLate(record)) {
        pending.push({ record, events: [] })
        continue
      }
      const open = pendingDelta ?? items.message?.message_id ?? null
      const goesOn = isAside(record) || (record.kind === "message.delta" && open === record.message_id)
      // The complete message names the seqs of its deltas, so they must be in the journal before it.
      if (open !== null && !goesOn && pendingDelta !== null) await flush()
      const closing = open !== null && !goesOn ? closeMessage(items, false) : []
      pending.push({ record, events: [...closing, plainEvent(record)] })
      if (closing.length > 0) items = { ...items, message: null }
      if (record.kind === "message.delta") pendingDelta = record.message_id
    }
    await flush()
  }

  return {
    take,
    cursor: () => ({ ...cursor }),
    /** Ends a run by this server's own decision. `end` finds everything of the run in the journal that will ever be there. */
    endRun: (run_id: string, end: () => Promise<void>) =>
      inTurn(async () => {
        await end()
        runClosed(run_id)
      }),
    /** The spool's oldest records are gone: said aloud, and read on from what is left. */
    skipTo: (first: number) => append([{ kind: "spool.gap", spool_id: cursor.spool_id, from: cursor.n + 1, to: first - 1 }], first - 1),
  }
}
export type Ingest = ReturnType<typeof createIngest>

export const hasEnded = async (db: Database, run_id: string) =>
  (await db.sessionEvent.findUnique({ where: { terminal_run_id: run_id }, select: { seq: true } })) !== null
