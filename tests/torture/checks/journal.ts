import { isDeepStrictEqual } from "node:util"
import type { SpoolRecord } from "../../../lib/contracts/agentctl/protocol"
import { isTerminalKind, type SessionEvent } from "../../../lib/contracts/events"
import { parseRow } from "../../../server/journal/journal"
import { isPutAway } from "../../../server/status"
import type { Finding, SessionEvidence } from "../evidence"

/** [1] No event is lost, shown twice or out of order: to a reader, to an open tab, and on the way from the daemon. */
export function checkJournal(evidence: SessionEvidence): Finding[] {
  const { name, log, rows } = evidence
  const finding = (expected: string, found: string): Finding => ({
    invariant: "1 no event lost, doubled or out of order",
    where: name,
    expected,
    found,
  })
  const findings: Finding[] = []
  const gap = log.findIndex((event, i) => event.seq !== i + 1)
  if (gap >= 0) findings.push(finding(`seq ${gap + 1} at place ${gap + 1}`, `seq ${log[gap]?.seq}`))
  if (rows.session.last_seq !== log.length) findings.push(finding(`last_seq ${log.length}`, `last_seq ${rows.session.last_seq}`))
  const stored = rows.events.map((row) => JSON.stringify(parseRow(row)))
  const differs = log.findIndex((event, i) => !isDeepStrictEqual(event, stored[i] === undefined ? null : JSON.parse(stored[i])))
  if (differs >= 0) findings.push(finding(`the database's ${stored[differs]}`, `the API's ${JSON.stringify(log[differs])}`))
  for (const seq of evidence.session.damaged) {
    const kind = log[seq - 1]?.kind
    if (kind !== "record.rejected") findings.push(finding(`record.rejected in place of the damaged row ${seq}`, String(kind)))
  }
  // What a damaged row said is not in the journal any more, though it was in the spool.
  const spool = evidence.session.damaged.size > 0 ? [] : checkAgainstSpool(evidence, finding)
  return [...findings, ...checkTabs(evidence, finding), ...spool]
}

type ToFinding = (expected: string, found: string) => Finding

function checkTabs({ log, session }: SessionEvidence, finding: ToFinding): Finding[] {
  return session.tabs.flatMap((tab, nth) => {
    const findings: Finding[] = []
    for (const [i, pushed] of tab.seen.entries()) {
      const before = tab.seen[i - 1]?.seq ?? 0
      if (pushed.seq !== before + 1) {
        findings.push(finding(`tab ${nth} sees seq ${before + 1} after ${before}`, `it saw ${pushed.seq}`))
        break
      }
      const { task_id: _, ...event } = pushed
      if (!session.damaged.has(pushed.seq) && !isDeepStrictEqual(event, log[pushed.seq - 1])) {
        findings.push(finding(`what tab ${nth} was shown is in the journal: ${JSON.stringify(event)}`, JSON.stringify(log[pushed.seq - 1])))
        break
      }
    }
    const last = tab.seen.at(-1)?.seq ?? 0
    if (tab.open && last !== log.length) findings.push(finding(`the open tab ${nth} at ${log.length}`, `at ${last}`))
    return findings
  })
}

const SAME_IN_BOTH = [
  "message.delta",
  "tool.call",
  "tool.update",
  "plan.updated",
  "agent.update",
  "agent.started",
  "agent.session_announced",
]

/** Every record of the spool is in the journal exactly once and in its order; what the server itself adds is left out. */
function checkAgainstSpool({ sinceSpool: log, spool, rows }: SessionEvidence, finding: ToFinding): Finding[] {
  if (isPutAway(rows.executor)) return []
  const findings: Finding[] = []
  if (spool.unreadable.length > 0)
    findings.push(finding("a readable spool", `${spool.unreadable.length} broken lines: ${spool.unreadable[0]?.slice(0, 200)}`))
  const gap = spool.records.findIndex((record, i) => record.n !== i + 1)
  if (gap >= 0) findings.push(finding(`record ${gap + 1} of the spool`, `record ${spool.records[gap]?.n}`))
  if (rows.session.spool_id !== spool.id && spool.id !== null && rows.session.spool_id !== null)
    findings.push(finding(`cursor in spool ${spool.id}`, `in ${rows.session.spool_id}`))
  const head = spool.records.at(-1)?.n ?? 0
  if (rows.session.spool_id !== null && rows.session.spool_seq !== head)
    findings.push(finding(`the spool read to its end, ${head}`, `read to ${rows.session.spool_seq}`))
  const spooled = spool.records.filter((record) => SAME_IN_BOTH.includes(record.kind)).map(essence)
  const journalled = log.filter((event) => SAME_IN_BOTH.includes(event.kind) && !isServersOwn(event)).map(essence)
  const at = Array.from({ length: Math.max(spooled.length, journalled.length) }, (_, i) => i).find((i) => spooled[i] !== journalled[i])
  if (at !== undefined) findings.push(finding(`record ${at + 1} from the spool: ${spooled[at]}`, `in the journal: ${journalled[at]}`))
  return findings
}

/** Said by the server when a run ends with the tool call still open. */
const isServersOwn = (event: SessionEvent) => event.kind === "tool.update" && event.status === "interrupted"

/** What both sides say of it; a label may differ, and is checked by what the agent remembers. */
function essence(record: SpoolRecord | SessionEvent): string {
  switch (record.kind) {
    case "message.delta":
      return `${record.kind} ${record.message_id} ${record.run_id} ${JSON.stringify(record.content)}`
    case "tool.call":
    case "tool.update":
      return `${record.kind} ${record.tool_call_id} ${record.status} ${record.run_id} ${JSON.stringify(record.output)}`
    case "agent.started":
      return `${record.kind} ${record.agent_execution_id} ${record.pid}`
    case "agent.session_announced":
      return `${record.kind} ${record.agent_session_id}`
    default:
      return `${record.kind} ${JSON.stringify("entries" in record ? record.entries : "update" in record ? record.update : null)}`
  }
}

const isOutput = (event: SessionEvent) =>
  event.kind === "message.delta" ||
  event.kind === "message.agent" ||
  event.kind === "message.thought" ||
  event.kind === "tool.call" ||
  event.kind === "tool.update" ||
  event.kind === "plan.updated"

/** [3] Each run has exactly one end, and nothing that belongs to it stays open. */
export function checkRuns({ name, log, rows, session }: SessionEvidence): Finding[] {
  const finding = (expected: string, found: string): Finding => ({
    invariant: "3 each run ends exactly once",
    where: name,
    expected,
    found,
  })
  const findings: Finding[] = []
  const ends = new Map<string, string[]>()
  for (const event of log) {
    if (event.kind === "run.started") ends.set(event.run_id, [])
    if (isTerminalKind(event.kind)) {
      const { run_id } = event as { run_id: string }
      const known = ends.get(run_id)
      if (known) known.push(event.kind)
      else findings.push(finding("an end only of a run that began", `${event.kind} of ${run_id}`))
    } else if (isOutput(event) && event.run_id && (ends.get(event.run_id)?.length ?? 0) > 0)
      findings.push(finding(`nothing of ${event.run_id} after its end`, JSON.stringify(event)))
  }
  for (const [run, kinds] of ends) if (kinds.length !== 1) findings.push(finding(`one end of ${run}`, kinds.join(", ") || "none"))
  if (rows.session.open_run_id !== null) findings.push(finding("no open run at rest", rows.session.open_run_id))
  const tools = new Map<string, string>()
  for (const event of log) {
    if (event.kind === "tool.call") tools.set(event.tool_call_id, event.status)
    if (event.kind === "tool.update" && event.status) tools.set(event.tool_call_id, event.status)
  }
  for (const [id, status] of tools) {
    if ((status === "pending" || status === "in_progress") && session.damaged.size === 0)
      findings.push(finding(`the tool call ${id} is over with its run`, status))
  }
  return findings
}
