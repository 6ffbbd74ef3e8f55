import { isTerminalKind, SessionEvent } from "../../lib/contracts/events"
import { Time } from "../../lib/contracts/time"
import type { SkippedRecord } from "../../lib/contracts/transfer"
import { isDeeperThan, MAX_JSON_DEPTH } from "../../lib/host/json-depth"
import { parseObject } from "../platform/parse-object"
import { MAX_SEQ } from "./limits"

/** A record larger than this is not held in memory to be looked at. */
const LONGEST_LINE = 16 * 1024 * 1024

/** One line of a log that is kept. `event` is null when it can be shown but nothing may follow from it. */
export type KeptRecord = {
  row: { seq: number; ts: string; kind: string; v: number; terminal_run_id: string | null; payload: string }
  event: SessionEvent | null
}

type Line = { number: number; text: string | null; torn: boolean }

/** Lines of a file that may end in the middle of one; `text` null: too long to be held. */
async function* readLines(source: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let parts: Buffer[] = []
  let size = 0
  let number = 0
  const finish = (torn: boolean): Line => {
    const text = size > LONGEST_LINE ? null : Buffer.concat(parts).toString("utf8")
    parts = []
    size = 0
    number += 1
    return { number, text, torn }
  }
  for await (const chunk of source) {
    for (let from = 0; ; ) {
      const end = chunk.indexOf(0x0a, from)
      const part = chunk.subarray(from, end === -1 ? undefined : end)
      size += part.length
      if (size <= LONGEST_LINE) parts.push(part)
      else parts = []
      if (end === -1) break
      yield finish(false)
      from = end + 1
    }
  }
  if (size > 0) yield finish(true)
}

/**
 * Reads a session's log as it may be found after a bad day: a torn last line, zeros a power cut left, lines of any length, kinds of
 * a newer version. Everything readable is kept; everything else is told to `skip`.
 */
export async function* readLog(
  source: AsyncIterable<Buffer>,
  sessionId: string,
  file: string,
  skip: (record: SkippedRecord) => void,
): AsyncGenerator<KeptRecord> {
  let last = { seq: 0, ts: new Date(0).toISOString() }
  const ended = new Set<string>()
  for await (const { number: line, text, torn } of readLines(source)) {
    const drop = (reason: SkippedRecord["reason"]) => skip({ file, line, reason, kept: false })
    if (text === null) {
      drop("oversized")
      continue
    }
    const clean = text.replaceAll("\0", "").trim()
    if (clean === "") {
      if (text !== "") drop("not_json")
      continue
    }
    if (isDeeperThan(clean, MAX_JSON_DEPTH)) {
      drop("too_deep")
      continue
    }
    const value = parseObject(clean)
    if (value === null) {
      drop(torn ? "torn" : "not_json")
      continue
    }
    const { session_id: _session, seq, ts, kind, v = 1, ...fields } = value
    if (!Number.isSafeInteger(seq) || typeof kind !== "string" || !Number.isSafeInteger(v)) {
      drop("not_an_event")
      continue
    }
    if ((seq as number) <= last.seq) {
      drop("seq_not_increasing")
      continue
    }
    if ((seq as number) > MAX_SEQ) {
      drop("seq_too_large")
      continue
    }
    last = { seq: seq as number, ts: Time.safeParse(ts).data ?? last.ts }
    const parsed = SessionEvent.safeParse({ ...fields, session_id: sessionId, ...last, kind, v })
    let event = parsed.success ? parsed.data : null
    if (!event) skip({ file, line, reason: KINDS.has(kind) ? "malformed" : "unknown_kind", kept: true })
    const run = event && isTerminalKind(event.kind) ? (event as { run_id: string }).run_id : null
    if (run !== null && ended.has(run)) {
      skip({ file, line, reason: "second_end", kept: true })
      event = null
    } else if (run !== null) ended.add(run)
    yield {
      row: { ...last, kind, v: v as number, terminal_run_id: event ? run : null, payload: JSON.stringify(fields) },
      event,
    }
  }
}

const KINDS = new Set<string>(SessionEvent.options.map((option) => option.shape.kind.value))
