import { AppError } from "../../lib/contracts/errors"
import type { SessionEvent } from "../../lib/contracts/events"

const MEBIBYTE = 1024 * 1024

/**
 * How much an imported session may hold. An exported file may come from a stranger: without these, one upload could take the
 * server's memory, or hold up everybody's commits for minutes.
 */
export const IMPORT_LIMITS = {
  bytes: 512 * MEBIBYTE,
  events: 250_000,
  /** Each of these becomes a row, and all rows are written in one transaction. */
  runs: 10_000,
  prompts: 10_000,
  waits: 10_000,
  tabs: 1_000,
  attachments: 10_000,
  /** Left open by the log, each is closed by an event of its own. */
  open_tool_calls: 1_000,
  /** Messages, questions and tab names are held in memory until that transaction. */
  row_bytes: 64 * MEBIBYTE,
} as const
export type ImportLimit = keyof typeof IMPORT_LIMITS

/** PostgreSQL's integer. A session beyond it could not take another event. */
export const MAX_SEQ = 2 ** 31 - 1 - 1_000_000

const WORDS: Record<Exclude<ImportLimit, "bytes">, string> = {
  events: "events",
  runs: "runs",
  prompts: "messages",
  waits: "questions",
  tabs: "tabs",
  attachments: "attachments",
  open_tool_calls: "unfinished tool calls",
  row_bytes: "bytes of messages and questions",
}

/** Counts what a log holds; throws at the first that is too much. */
export function createImportBudget() {
  const used = new Map<ImportLimit, number>()
  const spend = (what: Exclude<ImportLimit, "bytes">, amount = 1) => {
    const now = (used.get(what) ?? 0) + amount
    used.set(what, now)
    if (now > IMPORT_LIMITS[what]) throw tooLarge(what)
  }
  return {
    record: () => spend("events"),
    take(event: SessionEvent, bytes: number): void {
      const row = ROWS[event.kind]
      if (row !== undefined) {
        spend("row_bytes", bytes)
        if (row !== null) spend(row)
      }
      if (event.kind === "message.user") spend("attachments", event.attachments?.length ?? 0)
    },
    openToolCalls(count: number): void {
      if (count > IMPORT_LIMITS.open_tool_calls) throw tooLarge("open_tool_calls")
    },
  }
}

/** Kinds that make a row or end one, or whose fields are kept in one (null). */
const ROWS: Partial<Record<SessionEvent["kind"], "runs" | "prompts" | "waits" | "tabs" | null>> = {
  "run.completed": "runs",
  "run.failed": "runs",
  "run.cancelled": "runs",
  "run.interrupted": "runs",
  "prompt.queued": "prompts",
  "prompt.edited": null,
  "token.minted": "waits",
  "run.waiting": null,
  "worker.opened": "tabs",
  "worker.renamed": null,
  "worker.conversation": null,
}

const tooLarge = (what: Exclude<ImportLimit, "bytes">) =>
  new AppError(
    "IMPORT_TOO_LARGE",
    `The session holds more than ${IMPORT_LIMITS[what].toLocaleString("en")} ${WORDS[what]}. Nothing was imported.`,
    {
      what,
      limit: IMPORT_LIMITS[what],
    },
  )

/** The upload as it comes, up to its limit. */
export async function* withinBytes(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.byteLength
    if (bytes > IMPORT_LIMITS.bytes)
      throw new AppError("PAYLOAD_TOO_LARGE", "An exported session has at most 512 MB. Nothing was imported.", {
        limit_bytes: IMPORT_LIMITS.bytes,
      })
    yield chunk
  }
}
