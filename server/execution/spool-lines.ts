import { createHash } from "node:crypto"
import { SpoolRecord } from "../../lib/contracts/agentctl/protocol"
import { parseObject } from "../platform/parse-object"

/** Records are numbered without holes, but for rejected ones that stand for many; a number further ahead is a misread one. */
const MAX_HOLE = 10_000

/**
 * Lines of a spool, as they were streamed after record `after`. A line that cannot be read becomes a rejected record, numbered so that
 * the cursor moves past it and past nothing that can be read.
 */
export function toRecords(lines: readonly string[], after: number): SpoolRecord[] {
  const records: SpoolRecord[] = []
  let last = after
  let unread: string[] = []
  const reject = (n: number) => {
    // Otherwise nothing is missing between its neighbours: it never was a record.
    if (n > last) records.push(rejected(unread, n))
    last = Math.max(last, n)
    unread = []
  }
  for (const line of lines) {
    const record = parseLine(line)
    const plausible = record !== null && (record.n <= last + unread.length + MAX_HOLE || record.kind === "record.rejected")
    if (!plausible) {
      unread.push(line)
      continue
    }
    if (unread.length > 0) reject(record.n - 1)
    records.push(record)
    last = Math.max(last, record.n)
  }
  if (unread.length > 0) reject(last + unread.length)
  return records
}

/** A kind this build does not know comes from a newer daemon: its place is kept, the rest is read on. */
function parseLine(line: string): SpoolRecord | null {
  const value = parseObject(line)
  if (!value || !Number.isSafeInteger(value.n) || typeof value.ts !== "string" || typeof value.kind !== "string") return null
  const parsed = SpoolRecord.safeParse(value)
  if (parsed.success) return parsed.data
  return { n: value.n as number, ts: value.ts, kind: "agent.update", run_id: null, update: value }
}

const rejected = (lines: readonly string[], n: number): SpoolRecord => ({
  n,
  ts: new Date().toISOString(),
  kind: "record.rejected",
  sha256: createHash("sha256").update(lines.join("\n")).digest("hex"),
  reason: "unreadable in the spool",
})
