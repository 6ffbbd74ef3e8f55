import { ExportedTokens, SessionSnapshot } from "../../lib/contracts/transfer"
import { withoutCredentials } from "../../lib/host/git-url"
import { readContent } from "../attachments"
import { allRows, readRow, rejectedAt } from "../journal"
import type { Database, EventRow, ResumeToken, Session } from "../platform/database"
import { outcomeOf } from "../resume-tokens"
import { interruptionOf, statusOf } from "../status"
import { TAR_END, tarHeader, tarPadding } from "./tar"

export type ExportFile = { name: string; size: number; content: () => AsyncIterable<Buffer> }

/** The three files of a session, as of now, and what was attached to its messages. The log is read twice, once for its size, so that nothing is held in memory. */
export async function exportFiles(db: Database, session: Session): Promise<ExportFile[]> {
  const [task, executor, tokens] = await Promise.all([
    db.task.findUniqueOrThrow({ where: { id: session.task_id } }),
    db.executorRunning.findUnique({ where: { session_id: session.id } }),
    db.resumeToken.findMany({ where: { session_id: session.id }, orderBy: { minted_at: "asc" } }),
  ])
  const log = () => readLines(db, session)
  let size = 0
  for await (const chunk of log()) size += chunk.length
  const snapshot = SessionSnapshot.parse({
    format: 1,
    id: session.id,
    title: task.title,
    working_dir: executor?.worktree_path ?? null,
    provider: { type: session.agent, model: null },
    created_at: session.created_at,
    updated_at: session.updated_at,
    last_seq: session.last_seq,
    run: await openRun(db, session, tokens),
    recovery: { last_boot_seen: session.run_boot_id ?? session.owner_boot_id, interruption: interruptionOf(session) },
    status: statusOf({ session, tokens }, new Date()),
    state: session.state,
    runtime: session.runtime,
    task: { type: task.type, agent: session.agent, repository: task.repository && withoutCredentials(task.repository) },
  })
  const index = ExportedTokens.parse({
    tokens: tokens.map((token) => ({ token_id: token.id, ...token, outcome: token.outcome === null ? null : outcomeOf(token) })),
  })
  return [
    json(`${session.id}.json`, snapshot),
    { name: `${session.id}.messages.jsonl`, size, content: log },
    json(`${session.id}.tokens.json`, index),
    ...(await attachedFiles(db, session)),
  ]
}

/** Each content once, under its hash, whatever it was called. */
async function attachedFiles(db: Database, session: Session): Promise<ExportFile[]> {
  const rows = await db.attachment.findMany({
    where: { session_id: session.id },
    distinct: ["sha256"],
    orderBy: { id: "asc" },
    select: { id: true, bytes: true, sha256: true },
  })
  return rows.map(({ id, bytes, sha256 }) => ({
    name: `attachments/${sha256}`,
    size: bytes,
    async *content() {
      const content = await readContent(db, session.id, id)
      if (content) yield content
    },
  }))
}

export async function* toTar(files: readonly ExportFile[], modified: Date): AsyncGenerator<Uint8Array> {
  for (const file of files) {
    yield tarHeader(file.name, file.size, modified)
    let left = file.size
    for await (const chunk of file.content()) {
      left -= chunk.length
      yield chunk
    }
    // The header promised a size; a file that lies about it would shift everything behind it.
    if (left !== 0) throw new Error(`${file.name} changed while it was exported`)
    yield tarPadding(file.size)
  }
  yield TAR_END
}

function json(name: string, value: object): ExportFile {
  const text = Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
  return {
    name,
    size: text.length,
    async *content() {
      yield text
    },
  }
}

/**
 * Rows as they were written, not as this version reads them: a record of a newer one leaves as it came. One that cannot be read leaves
 * as what is shown in its place.
 */
async function* readLines(db: Database, { id, created_at, last_seq }: Session): AsyncGenerator<Buffer> {
  let ts = created_at
  for await (const page of allRows(db, id, last_seq)) {
    const lines = page.map(({ seq, row }) => {
      ts = row?.ts ?? ts
      return JSON.stringify(row ? toRecord(row) : rejectedAt({ session_id: id, seq, ts }))
    })
    yield Buffer.from(`${lines.join("\n")}\n`)
  }
}

function toRecord(row: EventRow): object {
  const { session_id, seq, ts, kind, v } = row
  const { fields, rejected } = readRow(row)
  return rejected ?? { session_id, seq, ts, kind, v, ...fields }
}

async function openRun(db: Database, session: Session, tokens: readonly ResumeToken[]) {
  if (!session.open_run_id) return null
  const first = await db.sessionEvent.findFirst({
    where: { session_id: session.id, seq: session.run_first_seq ?? 0 },
    select: { ts: true },
  })
  const wait = tokens.find((token) => token.state === "live" && token.run_id === session.open_run_id)
  return {
    run_id: session.open_run_id,
    boot_id: session.run_boot_id,
    started_at: first?.ts ?? null,
    ended_at: null,
    wait: wait ? { kind: wait.wait_kind, since_seq: null, resume_token_id: wait.id, deadline_at: wait.expires_at } : null,
  }
}
