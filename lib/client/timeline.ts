import type { EventOf, SessionEvent } from "@/lib/contracts/events"
import type { WaitOption } from "@/lib/contracts/waits"
import { answerWords, interruptionWords, receiptVerb, receiptWords } from "./event-words"
import { formatBytes, formatSpan, plural } from "./format"
import { leftOutWords } from "./left-out-words"

/**
 * A session's life on one axis of time: which servers had it, its executor, its runs and waits, and below them what happened in
 * words. Pure; the page draws it. Times are milliseconds.
 */
export type Tone = "server" | "unsure" | "alive" | "starting" | "work" | "need" | "warn" | "bad" | "quiet"
/** `to` is null while it lasts. */
export type Span = { key: string; from: number; to: number | null; tone: Tone; label: string }
export type Happening = { key: string; at: number; seq: number; what: string; tone: Tone; detail: string }
export type LaneName = "servers" | "executor" | "runs" | "waits" | "archives"
export type Timeline = {
  from: number
  lanes: readonly { name: LaneName; spans: readonly Span[] }[]
  /** When another server, or another executor, took the session over. */
  cuts: readonly { at: number; label: string }[]
  /** Newest first. */
  happenings: readonly Happening[]
}

type Lanes = Record<LaneName, Span[]>
type Server = { id: string | null; from: number; seq: number; recovering: boolean }
type Draft = {
  lanes: Lanes
  servers: Server[]
  cuts: { at: number; label: string }[]
  happenings: Happening[]
  previous: number
  options: Map<string, readonly WaitOption[]>
}

export function buildTimeline(events: readonly SessionEvent[]): Timeline {
  const from = timeOf(events[0])
  const draft: Draft = {
    lanes: { servers: [], executor: [], runs: [], waits: [], archives: [] },
    servers: [{ id: null, from, seq: 0, recovering: false }],
    cuts: [],
    happenings: [],
    previous: from,
    options: new Map(),
  }
  for (const event of events) {
    if (event.kind === "message.delta" || event.kind === "tool.update") continue
    noticeServer(draft, event)
    noticeExecutor(draft, event)
    noticeRun(draft, event)
    noticeRest(draft, event)
    draft.previous = timeOf(event)
  }
  placeServers(draft, events)
  const names: LaneName[] = ["servers", "executor", "runs", "waits", "archives"]
  return {
    from,
    lanes: names
      .filter((name) => name !== "archives" || draft.lanes.archives.length > 0)
      .map((name) => ({ name, spans: draft.lanes[name] })),
    cuts: draft.cuts,
    happenings: draft.happenings.sort((a, b) => b.at - a.at || b.seq - a.seq),
  }
}

const timeOf = (event: SessionEvent | undefined) => (event ? Date.parse(event.ts) : 0)

function happened(draft: Draft, event: SessionEvent, what: string, tone: Tone, detail: string): void {
  draft.happenings.push({ key: `${event.seq}`, at: timeOf(event), seq: event.seq, what, tone, detail })
}

/** Runs name the boot that carries them; between runs only its receipt tells that a new server has recovered the session. */
function noticeServer(draft: Draft, event: SessionEvent): void {
  const current = draft.servers.at(-1) as Server
  const begin = (id: string | null, recovering: boolean, at = timeOf(event)) =>
    draft.servers.push({ id, from: at, seq: event.seq, recovering })
  switch (event.kind) {
    case "run.started":
      current.recovering = false
      if (current.id === null) current.id = event.boot_id
      else if (current.id !== event.boot_id) begin(event.boot_id, false)
      return
    case "run.adopted":
      if (current.id !== null && current.id !== event.boot_id) begin(event.boot_id, true)
      else current.id = event.boot_id
      return
    case "run.interrupted":
      if (event.reason === "process_restart" && !current.recovering) begin(null, true)
      return
    case "recovery.receipt": {
      if (event.receipt_kind !== "recover") return
      const at = timeOf(event) - event.took_ms
      if (!current.recovering) return void begin(null, false, at)
      current.recovering = false
      current.from = Math.min(current.from, at)
      return
    }
  }
}

/** The last event before its successor began is the last sign of a server; what was between the two is not known, and said so. */
function placeServers(draft: Draft, events: readonly SessionEvent[]): void {
  const { servers } = draft.lanes
  draft.servers.forEach((server, at) => {
    const next = draft.servers[at + 1]
    const to = next ? Math.max(server.from, lastBefore(events, next.from)) : null
    servers.push({ key: `server:${at}`, from: server.from, to, tone: "server", label: server.id ?? "server" })
    if (next && to !== null && to < next.from) {
      servers.push({
        key: `unsure:${at}`,
        from: to,
        to: next.from,
        tone: "unsure",
        label: "nothing was recorded here: the server was idle or down",
      })
    }
    if (at === 0) return
    const detail = `started again and took this session over${server.id ? ` · ${server.id}` : ""}`
    draft.cuts.push({ at: server.from, label: "the server was started again" })
    draft.happenings.push({ key: `server:${at}`, at: server.from, seq: server.seq, what: "server", tone: "quiet", detail })
  })
}

function lastBefore(events: readonly SessionEvent[], at: number): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (timeOf(events[middle]) < at) low = middle + 1
    else high = middle
  }
  return timeOf(events[low - 1] ?? events[0])
}

function endOpen(spans: Span[], at: number): void {
  const last = spans.at(-1)
  if (last && last.to === null) last.to = Math.max(last.from, at)
}

function noticeExecutor(draft: Draft, event: SessionEvent): void {
  const { executor } = draft.lanes
  const begin = (tone: Tone, label: string, endsAt = timeOf(event)) => {
    endOpen(executor, endsAt)
    executor.push({ key: `executor:${event.seq}`, from: timeOf(event), to: null, tone, label })
  }
  switch (event.kind) {
    case "executor.starting":
      return begin("starting", "starting")
    case "executor.ready": {
      const label = `ready · ${event.agentctl_instance_id}`
      const last = executor.at(-1)
      if (last?.to === null && last.label === label) return
      const replaced = last?.to === null && last.tone === "alive"
      begin("alive", label, replaced ? draft.previous : timeOf(event))
      if (replaced) {
        draft.cuts.push({ at: timeOf(event), label: "the executor was started again" })
        happened(draft, event, "executor", "warn", "went away and was started again; its processes ended, the files stayed")
      }
      return
    }
    case "executor.error":
      begin("bad", `error · ${event.message}`)
      return happened(draft, event, "executor error", "bad", event.message)
    case "executor.reaping":
      return begin("server", "being put away")
    case "executor.stopped":
      endOpen(executor, timeOf(event))
      return happened(draft, event, "executor", "quiet", `stopped · ${event.reason.replaceAll("_", " ")}`)
    case "executor.deleted":
      endOpen(executor, timeOf(event))
      if (event.archive_id !== null) return happened(draft, event, "executor", "quiet", "deleted; its archive was verified")
      return happened(draft, event, "executor", "bad", "deleted without an archive; the files are lost")
    case "archive.failed":
      return endOpen(executor, timeOf(event))
  }
}

const runEnds = {
  "run.completed": "work",
  "run.failed": "bad",
  "run.cancelled": "quiet",
  "run.interrupted": "warn",
} as const satisfies Record<string, Tone>

function noticeRun(draft: Draft, event: SessionEvent): void {
  const { runs, waits } = draft.lanes
  switch (event.kind) {
    case "run.started":
      runs.push({ key: event.run_id, from: timeOf(event), to: null, tone: "work", label: "running" })
      return
    case "run.waiting":
      draft.options.set(event.resume_token_id, event.options)
      waits.push({ key: event.resume_token_id, from: timeOf(event), to: null, tone: "need", label: event.title })
      return happened(draft, event, "waiting", "need", `${event.wait_kind.replaceAll("_", " ")}: ${event.title}`)
    case "token.consumed":
      return endWait(
        draft,
        event,
        event.resume_token_id,
        `answered: ${answerWords(event.outcome, draft.options.get(event.resume_token_id))}`,
      )
    case "token.revoked":
      return endWait(draft, event, event.resume_token_id, "not answered")
    case "token.expired":
      return endWait(draft, event, event.resume_token_id, "nobody answered in time")
    case "run.completed":
    case "run.failed":
    case "run.cancelled":
    case "run.interrupted":
      return endRun(draft, event)
    case "run.late_outcome":
      return happened(draft, event, "late answer", "quiet", event.outcome)
  }
}

function endWait(draft: Draft, event: SessionEvent, tokenId: string, words: string): void {
  const wait = draft.lanes.waits.find((span) => span.key === tokenId)
  if (!wait || wait.to !== null) return
  wait.to = timeOf(event)
  happened(draft, event, "wait over", "quiet", `${words}, after ${formatSpan(wait.to - wait.from)} · ${wait.label}`)
}

function endRun(draft: Draft, event: EventOf<"run.completed" | "run.failed" | "run.cancelled" | "run.interrupted">): void {
  for (const wait of draft.lanes.waits) if (wait.to === null) wait.to = timeOf(event)
  const outcome = event.kind.slice("run.".length)
  const run = draft.lanes.runs.find((span) => span.key === event.run_id)
  if (run) {
    run.to = timeOf(event)
    run.tone = runEnds[event.kind]
    run.label = `${outcome}, ${formatSpan(run.to - run.from)}`
  }
  if (event.kind === "run.interrupted")
    happened(draft, event, "interrupted", "warn", `${interruptionWords[event.reason] ?? event.reason} · ${event.run_id}`)
  if (event.kind === "run.failed") happened(draft, event, "run failed", "bad", event.message)
  if (event.kind === "run.cancelled")
    happened(draft, event, "cancelled", "quiet", `the run was stopped${run ? ` after ${formatSpan(timeOf(event) - run.from)}` : ""}`)
}

function archived(draft: Draft, event: SessionEvent, what: string, tone: Tone, detail: string): void {
  const at = timeOf(event)
  draft.lanes.archives.push({ key: `archive:${event.seq}`, from: at, to: at, tone, label: `${what}: ${detail}` })
  happened(draft, event, what, tone, detail)
}

function noticeRest(draft: Draft, event: SessionEvent): void {
  switch (event.kind) {
    case "recovery.receipt": {
      const lost = event.agent_memory === "none"
      return happened(draft, event, receiptVerb(event).toLowerCase(), lost ? "warn" : "alive", receiptWords(event).join(" · "))
    }
    case "resume.failed":
      return happened(draft, event, "resume failed", "bad", `${event.strategy} · ${event.reason}${event.retryable ? " · tried again" : ""}`)
    case "agent.started":
      return event.strategy === "new" ? happened(draft, event, "agent", "quiet", "started") : undefined
    case "agent.exited": {
      if (event.code === 0 && event.signal === null) return
      const how = event.signal ?? (event.code === null ? "with its executor" : `code ${event.code}`)
      return happened(draft, event, "agent exited", "warn", how)
    }
    case "agent.session_retired":
      return happened(draft, event, "memory put aside", "warn", event.reason === "fresh_start" ? "a person started fresh" : event.reason)
    case "agent.session_reinstated":
      return happened(draft, event, "memory is back", "alive", "the fresh start was undone")
    case "spool.gap":
      return happened(draft, event, "output lost", "bad", `records ${event.from}–${event.to} were not kept`)
    case "record.rejected":
      return happened(draft, event, "record refused", "bad", event.reason)
    case "archive.created":
      return archived(
        draft,
        event,
        "put away",
        "server",
        `${plural(event.files, "file")}, ${formatBytes(event.bytes)}${leftOutWords(event.left_out)}`,
      )
    case "restore.requested":
      return happened(draft, event, "asked back", "quiet", event.archive_id ? "its archive is unpacked" : "its executor was still there")
    case "archive.restored":
      return archived(draft, event, "files back", "alive", `${plural(event.files, "file")} verified, ${formatBytes(event.bytes)}`)
    case "archive.failed":
      return archived(draft, event, "archive failed", "bad", event.message)
    case "session.continued":
      return happened(draft, event, "taken over", "quiet", `from the session with ${event.from_agent}`)
    case "session.imported": {
      const skipped = event.skipped > 0 ? `, ${event.skipped} skipped` : ""
      return happened(draft, event, "imported", "quiet", `${plural(event.events, "event")} from another server${skipped}`)
    }
  }
}
