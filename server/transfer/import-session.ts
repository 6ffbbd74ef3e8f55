import type { Attachment } from "../../lib/contracts/attachments"
import { AppError } from "../../lib/contracts/errors"
import type { EventOf, NewEvent } from "../../lib/contracts/events"
import type { SessionState } from "../../lib/contracts/status"
import type { AgentId } from "../../lib/contracts/task"
import { ExportedTokens, type ImportResult, SessionSnapshot, type SkippedRecord } from "../../lib/contracts/transfer"
import { withoutCredentials } from "../../lib/host/git-url"
import type { Person } from "../auth"
import { endRun, foldOpenItems, NOTHING_OPEN } from "../execution"
import {
  type Change,
  createReplay,
  insert,
  type Journal,
  newGeneration,
  type ReplayedRows,
  remove,
  StoreRefused,
  update,
  updateAny,
} from "../journal"
import type { Clock } from "../platform/clock"
import type { Database } from "../platform/database"
import { ids } from "../platform/ids"
import { ATTACHED, stageAttachments } from "./import-attachments"
import { createImportBudget, withinBytes } from "./limits"
import { readLog } from "./read-log"
import { NotATar, readTar, type TarEntry } from "./tar"

export type ImportDeps = { db: Database; journal: Journal; clock: Clock }

/** So many rows a write: other sessions' commits go in between. */
const STAGED_AT_ONCE = 200
/** The other two files are small; larger ones are not ours. */
const LARGEST_INDEX = 16 * 1024 * 1024
const LISTED_SKIPS = 100
const STAGING_KEPT_MS = 24 * 3_600_000
const FILE = /^(?:.*\/)?(sess_[A-Za-z0-9_-]{1,100})\.(json|messages\.jsonl|tokens\.json)$/

type Rows = ReplayedRows[keyof ReplayedRows][number]

/**
 * Takes a session over from the files of another server. The log is staged piece by piece under a name nobody reads; one commit at
 * the end makes it a session. Whatever breaks before that leaves nothing behind that could be seen.
 */
export async function importSession(
  deps: ImportDeps,
  person: Person,
  source: AsyncIterable<Uint8Array>,
  options: { agent?: AgentId | undefined; repositoryOf: (repository: string) => string | null; queueMax: number },
): Promise<ImportResult> {
  const skips: SkippedRecord[] = []
  let skipped = 0
  const skip = (record: SkippedRecord) => {
    skipped += 1
    if (skips.length < LISTED_SKIPS) skips.push(record)
  }
  await forgetOldStaging(deps)
  const staging = ids.staging()
  try {
    const attachments = stageAttachments(deps, staging, person.id, skip)
    const read = await readFiles(deps, staging, source, attachments, skip)
    const missing = await attachments.settle(read.attachments)
    const result = await makeSession(deps, person, staging, read, missing, skipped, options)
    return { ...result, skipped: skips, skipped_count: skipped }
  } catch (error) {
    await deps.journal.write([remove("session_events", { session_id: staging }), remove("attachments", { session_id: staging })])
    if (error instanceof NotATar) throw invalid(error.message)
    // A run, prompt or token of this log is here already, in another session.
    if (error instanceof StoreRefused)
      throw new AppError("CONFLICT", "Parts of this session are on this server already, or it is being imported at the same time.", {})
    throw error
  }
}

type Read = Awaited<ReturnType<typeof readFiles>>

async function readFiles(
  deps: ImportDeps,
  staging: string,
  source: AsyncIterable<Uint8Array>,
  attachments: ReturnType<typeof stageAttachments>,
  skip: (record: SkippedRecord) => void,
) {
  let id: string | null = null
  let snapshot: SessionSnapshot | null = null
  let replayed: Awaited<ReturnType<typeof stageLog>> | null = null
  for await (const entry of readTar(withinBytes(source))) {
    const attached = ATTACHED.exec(entry.name)?.[1]
    if (attached) await attachments.take(entry, attached)
    const [, session, suffix] = FILE.exec(entry.name) ?? []
    if (!session) continue
    if (id !== null && id !== session) throw invalid("The files are of different sessions.")
    if (id === null) await requireUnknown(deps.db, session)
    id = session
    if (suffix === "messages.jsonl") replayed = await stageLog(deps, staging, entry, session, skip)
    else {
      const value = parseJson(await readWhole(entry))
      const parsed = suffix === "json" ? SessionSnapshot.safeParse(value) : ExportedTokens.safeParse(value)
      if (!parsed.success) skip({ file: entry.name, line: null, reason: value === null ? "not_json" : "malformed", kept: false })
      else if (suffix === "json") snapshot = parsed.data as SessionSnapshot
    }
  }
  if (id === null || replayed === null) throw invalid("There is no <session_id>.messages.jsonl in it.")
  if (replayed.count === 0) throw invalid("Nothing in the log could be read.")
  return { id, snapshot, ...replayed }
}

async function stageLog(deps: ImportDeps, staging: string, entry: TarEntry, id: string, skip: (record: SkippedRecord) => void) {
  const at = deps.clock.now().toISOString()
  const replay = createReplay({
    session: { ...NEW_SESSION, id, task_id: 0, created_at: at, updated_at: at },
    executor: { ...NEW_EXECUTOR, id: ids.executor(), session_id: id, task_id: 0, created_at: at, updated_at: at },
  })
  const budget = createImportBudget()
  let items = NOTHING_OPEN
  let count = 0
  let firstMessage: string | null = null
  const attachments = new Map<string, Attachment>()
  let firstAt: string | null = null
  const ends: { seq: number; terminal_run_id: string }[] = []
  let batch: Change[] = []
  const flush = async () => {
    if (batch.length > 0) await deps.journal.write(batch)
    batch = []
  }
  for await (const { row, event } of readLog(entry.content, id, entry.name, skip)) {
    budget.record()
    if (event) budget.take(event, row.payload.length)
    const { terminal_run_id, ...staged } = row
    batch.push(insert("session_events", { session_id: staging, ...staged }))
    // Only in the last commit: staged rows of an import that was cut off must not stand in the way of the next.
    if (terminal_run_id !== null) ends.push({ seq: row.seq, terminal_run_id })
    count += 1
    firstAt ??= row.ts
    if (event) {
      replay.take(event)
      if (event.kind === "run.started") items = NOTHING_OPEN
      items = foldOpenItems(items, event)
      budget.openToolCalls(items.tools.size)
      if (event.kind === "message.user") {
        firstMessage ??= event.content
        for (const attachment of event.attachments ?? []) attachments.set(attachment.id, attachment)
      }
    } else replay.pass(row)
    if (batch.length >= STAGED_AT_ONCE) await flush()
  }
  await flush()
  return { rows: replay.rows(), items, ends, count, firstMessage, firstAt, attachments: [...attachments.values()] }
}

async function makeSession(
  deps: ImportDeps,
  person: Person,
  staging: string,
  read: Read,
  missing: readonly Attachment[],
  skipped: number,
  options: Parameters<typeof importSession>[3],
): Promise<Omit<ImportResult, "skipped" | "skipped_count">> {
  const { id, snapshot, rows } = read
  const agent = snapshot?.task.agent ?? options.agent
  if (!agent) throw invalid("The snapshot cannot be read, so the agent is not known. Name it with ?agent=.")
  const now = deps.clock.now().toISOString()
  const session = rows.sessions[0] as Rows
  const executor = rows.executors_running[0] as Rows
  const created_at = snapshot?.created_at ?? read.firstAt ?? now
  const wanted = snapshot?.task.repository ?? null
  const repository = wanted === null ? null : options.repositoryOf(wanted)
  const live = rows.resume_tokens.filter((token) => token.state === "live")
  const waiting = rows.prompts.filter((prompt) => prompt.state === "queued")
  const inQueue = waiting.length + rows.prompts.filter((prompt) => prompt.state === "held").length
  if (inQueue > options.queueMax)
    throw new AppError("QUEUE_FULL", `${inQueue} messages wait in this session; a queue holds ${options.queueMax}. Nothing was imported.`, {
      limit: options.queueMax,
    })
  const run_id = session.open_run_id as string | null

  const task_id = { ref: "task_id" }
  const { refs } = await deps.journal.commit({
    session: { id, task_id: 0, user_id: person.id },
    rows: [
      insert(
        "tasks",
        {
          owner_id: person.id,
          type: snapshot?.task.type ?? "chat",
          title: (snapshot?.title ?? read.firstMessage ?? "Imported session").slice(0, 200),
          state: "REVIEW",
          agent,
          repository,
          created_at,
          updated_at: now,
          last_activity_at: now,
        },
        "task_id",
      ),
      insert("sessions", { ...session, id, task_id, user_id: person.id, agent, runtime: "standalone", created_at, updated_at: now }),
      insert("executors_running", { ...executor, id: executor.id as string, task_id, runtime: "standalone" }),
      ...rows.prompts.map((row) => insert("prompts", { ...row, id: row.id as string, task_id })),
      ...rows.resume_tokens.map((row) => insert("resume_tokens", { ...row, id: row.id as string })),
      ...rows.workers.map((row) => insert("workers", { ...row, id: row.id as string })),
      updateAny("session_events", { session_id: staging }, { session_id: id }),
      updateAny("attachments", { session_id: staging }, { session_id: id }),
      ...read.ends.map(({ seq, terminal_run_id }) => update("session_events", { session_id: id, seq }, { terminal_run_id })),
      await newGeneration(deps.db),
    ],
    events: [
      { kind: "session.imported", events: read.count, skipped },
      ...(run_id === null
        ? live.map((token): NewEvent => ({ kind: "token.revoked", resume_token_id: token.id as string, reason: "imported" }))
        : endRun(
            { kind: "run.interrupted", run_id, reason: "executor_lost" },
            {
              state: session.state as SessionState,
              live_tokens: live.map((token) => ({ id: token.id as string, request_id: token.request_id as string })),
            },
            read.items,
          )),
      ...waiting.map((prompt): NewEvent => ({ kind: "prompt.held", prompt_id: prompt.id as string, reason: "imported" })),
      ...toRest(session.state as SessionState, run_id !== null),
    ],
  })
  return {
    task_id: refs.task_id as number,
    session_id: id,
    events: read.count,
    held_prompts: waiting.length,
    interrupted_run: run_id,
    notes: [
      ...(wanted !== null && repository === null
        ? [`The repository ${withoutCredentials(wanted)} cannot be used here: the session goes on in a folder of its own.`]
        : []),
      ...(missing.length > 0 ? [`What was attached did not all come along: ${missing.map(({ name }) => name).join(", ")}.`] : []),
    ],
  }
}

/** What imports left behind that were killed: a day later nobody is still writing to it. */
async function forgetOldStaging({ db, journal, clock }: ImportDeps): Promise<void> {
  const first = ids.stagingAt(0)
  const last = ids.stagingAt(clock.now().getTime() - STAGING_KEPT_MS)
  const old = { where: { session_id: { gte: first, lt: last } }, select: { session_id: true } }
  const events = await db.sessionEvent.findMany({ ...old, distinct: ["session_id"] })
  const attachments = await db.attachment.findMany({ ...old, distinct: ["session_id"] })
  for (const { session_id } of events) await journal.write([remove("session_events", { session_id })])
  for (const { session_id } of attachments) await journal.write([remove("attachments", { session_id })])
}

/** Nothing of it runs here. A run's own end already leads out of RUNNING. */
function toRest(state: SessionState, runEnds: boolean): Extract<NewEvent, EventOf<"session.state_changed"> | { kind: string }>[] {
  if (state !== "STARTING" && state !== "ERROR" && (state !== "RUNNING" || runEnds)) return []
  return [{ kind: "session.state_changed", from: state, to: "WAITING_FOR_INPUT", cause: "imported" }]
}

async function requireUnknown(db: Database, id: string): Promise<void> {
  const known =
    (await db.session.findUnique({ where: { id }, select: { id: true } })) ??
    // An archive belongs to its session, and would be taken for this one's.
    (await db.archive.findFirst({ where: { session_id: id }, select: { id: true } }))
  if (known) throw new AppError("CONFLICT", "This session is on this server already.", {})
}

async function readWhole(entry: TarEntry): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of entry.content) {
    size += chunk.length
    if (size <= LARGEST_INDEX) chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8").replaceAll("\0", "")
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

const invalid = (message: string) => new AppError("INVALID_INPUT", message, { issues: [message] })

/** As a session and its executor are born; every column a log may lead out of. */
const NEW_SESSION = {
  ...{ last_seq: 0, state: "CREATED", open_run_id: null, run_boot_id: null, run_prompt_id: null, run_first_seq: null },
  ...{ open_waits: 0, cancel_requested: 0, interruption: null, owner_boot_id: null, owner_epoch: 0, spool_id: null, spool_seq: 0 },
}
const NEW_EXECUTOR = { runtime: "standalone", status: "none", generation: 1, context_pending: 0 }
