import type { Attachment } from "@/lib/contracts/attachments"
import type { EventKind, EventOf, SessionEvent } from "@/lib/contracts/events"
import { Sha256 } from "@/lib/contracts/ids"
import { joined, leadsTo } from "./join-receipts"
import { noticeComeback, startWaking, unpacks } from "./transcript-comeback"
import { base, type Draft, find, put } from "./transcript-draft"
import type { Note, Prompt, RunEnd, Settled, Transcript, WakingStep } from "./transcript-items"
import { completeMessage, extendMessage, startTool, updateTool } from "./transcript-output"

/**
 * Folds a session's log into what the page shows. Pure: applying the log piece by piece gives what applying it at once gives.
 * An event at or below `lastSeq` changes nothing, so that a reconnect may deliver it again.
 */
export const emptyTranscript = (
  seed: readonly {
    prompt_id: string
    message: string
    attachments?: readonly Attachment[] | undefined
    position: number
    held?: boolean
  }[] = [],
): Transcript => {
  // Prompts queued before the oldest loaded event; real ranks are positive, so these stay in front in their own order.
  const prompts = seed.map<Prompt>((p) => ({
    promptId: p.prompt_id,
    text: p.message,
    attachments: p.attachments ?? [],
    rank: p.position - 1e12,
    clientMessageId: null,
    stage: "queued",
    held: p.held ? "" : null,
  }))
  return {
    lastSeq: 0,
    lastEventAt: null,
    setupSeq: 0,
    items: [],
    places: new Map(),
    open: new Set(),
    prompts: new Map(prompts.map((p) => [p.promptId, p])),
    queue: prompts,
    run: null,
    endedRun: null,
    waiting: false,
    waking: null,
    processesSince: null,
    interrupted: null,
    trouble: null,
    woken: null,
    freshStart: null,
    abandoned: false,
    comeback: null,
  }
}

export function applyEvents(before: Transcript, events: readonly SessionEvent[]): Transcript {
  const fresh = events.filter((event) => event.seq > before.lastSeq)
  if (fresh.length === 0) return before
  const draft: Draft = {
    ...before,
    items: before.items.slice(),
    places: new Map(before.places),
    open: new Set(before.open),
    prompts: new Map(before.prompts),
    queueChanged: false,
  }
  for (const event of fresh) {
    if (event.seq <= draft.lastSeq) continue
    draft.lastSeq = event.seq
    draft.lastEventAt = event.ts
    if (MOVES_SETUP.has(event.kind)) draft.setupSeq = event.seq
    noticeRun(draft, event)
    apply(draft, event)
    noticeComeback(draft, event)
  }
  draft.waiting = [...draft.open].some((key) => key.startsWith("wait:"))
  const { queueChanged, ...after } = draft
  return queueChanged ? { ...after, queue: queueOf(after.prompts) } : after
}

const MOVES_SETUP: ReadonlySet<EventKind> = new Set<EventKind>([
  "agent.started",
  "agent.setup_announced",
  "agent.usage_reported",
  "agent.options_chosen",
  "agent.options_settled",
  "agent.sign_in_required",
  "run.completed",
])

const queueOf = (prompts: ReadonlyMap<string, Prompt>): readonly Prompt[] =>
  [...prompts.values()].filter((p) => p.stage === "queued").sort((a, b) => a.rank - b.rank)

function apply(draft: Draft, event: SessionEvent): void {
  switch (event.kind) {
    case "prompt.queued":
      return putPrompt(draft, event.prompt_id, {
        text: event.content,
        attachments: event.attachments ?? [],
        rank: event.rank,
        clientMessageId: event.client_message_id,
        stage: "queued",
      })
    case "prompt.edited":
      return putPrompt(draft, event.prompt_id, { text: event.content })
    case "prompt.reordered":
      return putPrompt(draft, event.prompt_id, { rank: event.rank })
    case "prompt.withdrawn":
      return putPrompt(draft, event.prompt_id, { stage: "withdrawn" })
    case "prompt.held":
      return putPrompt(draft, event.prompt_id, { held: event.reason })
    case "prompt.released":
      return putPrompt(draft, event.prompt_id, { held: null })
    case "message.user":
      // Journalled when it was accepted, perhaps in the middle of an earlier answer: it is shown once it is delivered.
      return putPrompt(draft, event.prompt_id, { text: event.content, attachments: event.attachments ?? [] })
    case "prompt.delivering":
    case "prompt.delivered":
      return placePrompt(draft, event)
    case "message.delta":
      return extendMessage(draft, event)
    case "message.agent":
    case "message.thought":
      return completeMessage(draft, event)
    case "tool.call":
      return startTool(draft, event)
    case "tool.update":
      return updateTool(draft, event)
    case "plan.updated":
      return put(draft, { ...base(event, `plan:${event.run_id}`), type: "plan", entries: event.entries, ended: false })
    case "run.started":
      draft.run = { runId: event.run_id, startedAt: event.ts, cancelRequested: false, accessLost: false }
      draft.interrupted = null
      return placePrompt(draft, event)
    case "run.waiting":
      return startWait(draft, event)
    case "token.consumed":
      return settle(draft, event.resume_token_id, { how: "answered", outcome: event.outcome })
    case "token.expired":
      return settle(draft, event.resume_token_id, { how: "expired" })
    case "token.revoked":
      return settle(draft, event.resume_token_id, { how: "over" })
    case "run.cancel_requested":
      if (draft.run?.runId === event.run_id) draft.run = { ...draft.run, cancelRequested: true, accessLost: event.reason === "access_lost" }
      return
    case "run.completed":
      return endRun(draft, event, event.stop_reason === "end_turn" ? null : { outcome: "stopped", stopReason: event.stop_reason })
    case "run.failed":
      return endRun(draft, event, {
        outcome: "failed",
        reason: event.reason,
        message: event.message,
        stderr: takeLastNote(draft, "agent_exited")?.stderr ?? "",
      })
    case "run.cancelled":
      return endRun(draft, event, { outcome: "cancelled", accessLost: draft.run?.runId === event.run_id && draft.run.accessLost })
    case "run.interrupted":
      draft.interrupted = { runId: event.run_id, reason: event.reason, at: event.ts }
      takeLastNote(draft, "agent_exited", (said) => said.stderr.trim() === "")
      return endRun(draft, event, { outcome: "interrupted", reason: event.reason })
    case "executor.starting":
      draft.trouble = null
      draft.waking = startWaking(draft, event.ts)
      return
    case "executor.ready":
      draft.trouble = null
      draft.abandoned = false
      return nextWakingStep(draft, event.ts, draft.waking !== null)
    case "resume.started":
      return nextWakingStep(draft, event.ts, true)
    case "agent.started":
      finishWaking(draft, event.ts)
      draft.trouble = null
      if (event.strategy !== "adopted" || draft.processesSince === null) draft.processesSince = event.ts
      return note(draft, event, { about: "agent_started", strategy: event.strategy })
    case "agent.exited":
      if (event.code === 0 && event.signal === null) return
      return note(draft, event, { about: "agent_exited", code: event.code, signal: event.signal, stderr: event.stderr_tail })
    case "session.state_changed":
      if (event.to !== "STARTING" && event.to !== "CREATED") draft.waking = null
      return
    case "resume.failed":
      // What is tried again at once is still waking.
      if (!event.retryable) draft.waking = null
      draft.trouble = { of: "agent", reason: "resume_failed", message: event.reason }
      return note(draft, event, { about: "resume_failed", reason: event.reason })
    case "executor.error":
      draft.waking = null
      draft.trouble = { of: "executor", reason: event.reason, message: event.message }
      return noteFailure(draft, event, unpacks(draft) ? "restore_failed" : "executor_error")
    case "agent.session_retired":
      if (event.reason === "fresh_start") takeLastNote(draft, "agent_exited", (said) => said.stderr.trim() === "")
      return startFresh(draft, event)
    case "agent.session_reinstated":
      settleFreshStart(draft)
      return note(draft, event, { about: "memory_back" })
    case "executor.stopped":
      draft.waking = null
      draft.trouble = null
      draft.abandoned = event.reason === "abandoned"
      return
    case "executor.deleted":
      draft.waking = null
      draft.trouble = null
      return event.archive_id === null ? note(draft, event, { about: "put_away_lost" }) : undefined
    case "archive.created":
      takeLastNote(draft, "agent_exited", (said) => said.stderr.trim() === "")
      return note(draft, event, { about: "put_away", files: event.files, bytes: event.bytes, leftOut: event.left_out ?? [] })
    case "archive.failed":
      return noteFailure(draft, event, "archive_failed")
    case "session.imported":
      withdrawCommands(draft)
      settleFreshStart(draft)
      return note(draft, event, { about: "imported", events: event.events, skipped: event.skipped })
    case "session.continued":
      return note(draft, event, { about: "continued", agent: event.from_agent, sessionId: event.from_session_id })
    case "agent.options_settled":
      return event.refused.length > 0 ? note(draft, event, { about: "options_refused", refused: event.refused }) : undefined
    case "spool.gap":
      return note(draft, event, { about: "gap", from: event.from, to: event.to })
    case "record.rejected":
      return note(draft, event, {
        ...{ about: "rejected", reason: event.reason },
        download:
          event.kept && Sha256.safeParse(event.sha256).success ? `/api/v1/sessions/${event.session_id}/rejected/${event.sha256}` : null,
      })
    case "recovery.receipt":
      return placeReceipt(draft, event)
    default:
      return
  }
}

function putPrompt(draft: Draft, promptId: string, change: Partial<Prompt>): void {
  const known = draft.prompts.get(promptId)
  const prompt: Prompt = known ?? {
    ...{ promptId, text: "", attachments: [], rank: Number.MAX_SAFE_INTEGER },
    ...{ clientMessageId: null, stage: "accepted", held: null },
  }
  draft.prompts.set(promptId, { ...prompt, ...change })
  draft.queueChanged = true
}

function placePrompt(draft: Draft, event: EventOf<"prompt.delivering" | "prompt.delivered" | "run.started">): void {
  const prompt = draft.prompts.get(event.prompt_id)
  if (!prompt || prompt.stage === "placed") return
  putPrompt(draft, event.prompt_id, { stage: "placed" })
  put(draft, {
    ...base(event, `user:${event.prompt_id}`),
    type: "user",
    promptId: event.prompt_id,
    text: prompt.text,
    attachments: prompt.attachments,
  })
}

const showsOpenRun: ReadonlySet<EventKind> = new Set([
  "message.delta",
  "tool.call",
  "tool.update",
  "run.waiting",
  "run.resumed",
  "run.adopted",
])

/** A page may begin in the middle of a long run, after its run.started. */
function noticeRun(draft: Draft, event: SessionEvent): void {
  if (draft.run || !showsOpenRun.has(event.kind)) return
  if (!("run_id" in event) || event.run_id === null || event.run_id === draft.endedRun) return
  draft.run = { runId: event.run_id, startedAt: event.ts, cancelRequested: false, accessLost: false }
}

const waitKey = (tokenId: string) => `wait:${tokenId}`

function startWait(draft: Draft, event: EventOf<"run.waiting">): void {
  const key = waitKey(event.resume_token_id)
  draft.open.add(key)
  put(draft, {
    ...base(event, key),
    type: "wait",
    tokenId: event.resume_token_id,
    waitKind: event.wait_kind,
    title: event.title,
    detail: event.detail,
    options: event.options,
    deadlineAt: event.deadline_at,
    settled: null,
  })
}

function settle(draft: Draft, tokenId: string, settled: Settled): void {
  const wait = find(draft, waitKey(tokenId), "wait")
  if (!wait) return
  draft.open.delete(wait.key)
  put(draft, { ...wait, settled })
}

function endRun(draft: Draft, event: SessionEvent & { run_id: string }, end: RunEnd | null): void {
  for (const key of [...draft.open]) {
    const item = find(draft, key, "agent", "thought", "tool", "wait")
    if (item?.runId !== event.run_id) continue
    draft.open.delete(key)
    if (item.type === "wait") put(draft, { ...item, settled: { how: "over" } })
    else if (item.type === "tool") put(draft, { ...item, status: "interrupted", endedAt: event.ts })
    else put(draft, { ...item, streaming: false })
  }
  const plan = find(draft, `plan:${event.run_id}`, "plan")
  if (plan) put(draft, { ...plan, ended: true })
  if (draft.run?.runId === event.run_id) draft.run = null
  draft.endedRun = event.run_id
  if (end) put(draft, { ...base(event, `end:${event.run_id}`), type: "run_end", end })
}

function nextWakingStep(draft: Draft, ts: string, wakes: boolean): void {
  if (!wakes) return
  const done = (draft.waking?.steps ?? [])
    .filter((step) => step.name !== "memory")
    .map<WakingStep>((step) => ({ ...step, doneAt: step.doneAt ?? ts }))
  const begun = draft.waking ?? { first: draft.processesSince === null }
  draft.waking = { ...begun, steps: [...done, { name: "memory", at: ts, doneAt: null }] }
}

function finishWaking(draft: Draft, ts: string): void {
  if (draft.waking) {
    draft.woken = { ...draft.waking, steps: draft.waking.steps.map((step) => ({ ...step, doneAt: step.doneAt ?? ts })) }
  }
  draft.waking = null
}

function startFresh(draft: Draft, event: EventOf<"agent.session_retired">): void {
  settleFreshStart(draft)
  if (event.reason !== "fresh_start") return note(draft, event, { about: "memory_refused", reason: event.reason })
  note(draft, event, { about: "fresh_start", undoable: true })
  draft.freshStart = `note:${event.seq}`
}

function settleFreshStart(draft: Draft): void {
  const known = draft.freshStart === null ? null : find(draft, draft.freshStart, "note")
  if (known) put(draft, { ...known, note: { about: "fresh_start", undoable: false } })
  draft.freshStart = null
}

function note(draft: Draft, event: SessionEvent, content: Note): void {
  put(draft, { ...base(event, `note:${event.seq}`), type: "note", note: content })
}

/** The same failure, tried again and again, is one line. */
function noteFailure(draft: Draft, event: EventOf<"executor.error" | "archive.failed">, about: FailureNote["about"]): void {
  const before = takeLastNote(draft, about, (said) => said.message === event.message)
  note(draft, event, { about, message: event.message, times: (before?.times ?? 0) + 1 })
}
type FailureNote = Extract<Note, { times: number }>

/** Takes away the note that what follows repeats. */
function takeLastNote<A extends Note["about"]>(
  draft: Draft,
  about: A,
  when: (note: Extract<Note, { about: A }>) => boolean = () => true,
): Extract<Note, { about: A }> | null {
  const last = draft.items.at(-1)
  if (last?.type !== "note" || last.note.about !== about) return null
  const note = last.note as Extract<Note, { about: A }>
  if (!when(note)) return null
  draft.items.pop()
  draft.places.delete(last.key)
  return note
}

/** What ended before an import ended on somebody else's machine, if at all: an exported file may name any command. */
function withdrawCommands(draft: Draft): void {
  draft.items.forEach((item, at) => {
    if (item.type !== "receipt") return
    const processes = item.receipt.processes.map(({ command: _command, ...process }) => process)
    draft.items[at] = { ...item, receipt: { ...item.receipt, processes } }
  })
}

/** The receipt says what the agent's start said, and more: it takes that note's place. */
function placeReceipt(draft: Draft, event: EventOf<"recovery.receipt">): void {
  draft.waking = null
  takeLastNote(draft, "agent_started")
  const last = draft.items.at(-1)
  if (last?.type === "receipt" && leadsTo(last.receipt, event)) return put(draft, { ...last, receipt: joined(last.receipt, event) })
  put(draft, { ...base(event, `receipt:${event.seq}`), type: "receipt", receipt: event })
}
