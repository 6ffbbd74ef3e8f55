import type { RefusedOption } from "@/lib/contracts/agent-setup"
import type { Attachment } from "@/lib/contracts/attachments"
import type { EventOf, PlanEntry, ToolOutput, ToolStatus } from "@/lib/contracts/events"
import type { LeftOut } from "@/lib/contracts/left-out"
import type { AgentStrategy, InterruptionReason } from "@/lib/contracts/status"
import type { Outcome, WaitKind, WaitOption } from "@/lib/contracts/waits"

/** `order` is where in the log an item began; items are kept sorted by it, also when deltas were compacted away. */
type Base = { readonly key: string; readonly order: number; readonly ts: string; readonly runId: string | null }

export type UserItem = Base & { type: "user"; promptId: string; text: string; attachments: readonly Attachment[] }
export type MessageItem = Base & {
  type: "agent" | "thought"
  text: string
  streaming: boolean
  partial: boolean
  /** Time of the newest delta; null when only the complete record is left. */
  endedAt: string | null
}
export type ToolItem = Base & {
  type: "tool"
  title: string
  toolKind: string
  status: ToolStatus
  output: readonly ToolOutput[]
  locations: readonly { path: string; line?: number | null | undefined }[]
  rawInput: unknown
  endedAt: string | null
}
export type PlanItem = Base & { type: "plan"; entries: readonly PlanEntry[]; ended: boolean }

/** `over`: the run ended, or a fresh message took the wait's place; nobody can answer any more. */
export type Settled = { how: "answered"; outcome: Outcome } | { how: "expired" } | { how: "over" }
export type WaitItem = Base & {
  type: "wait"
  tokenId: string
  waitKind: WaitKind
  title: string
  detail: string | null
  options: readonly WaitOption[]
  deadlineAt: string
  settled: Settled | null
}
export type RunEnd =
  | { outcome: "failed"; reason: string; message: string; stderr: string }
  | { outcome: "cancelled"; accessLost: boolean }
  | { outcome: "interrupted"; reason: InterruptionReason }
  | { outcome: "stopped"; stopReason: string }
export type RunEndItem = Base & { type: "run_end"; end: RunEnd }
export type ReceiptItem = Base & { type: "receipt"; receipt: EventOf<"recovery.receipt"> }
export type Note =
  | { about: "agent_started"; strategy: AgentStrategy }
  | { about: "agent_exited"; code: number | null; signal: string | null; stderr: string }
  | { about: "resume_failed"; reason: string }
  | { about: "executor_error"; message: string; times: number }
  | { about: "gap"; from: number; to: number }
  /** `download`: where what was left out can be had. */
  | { about: "rejected"; reason: string; download: string | null }
  /** `undoable` until the memory is back, or something else took its place. */
  | { about: "fresh_start"; undoable: boolean }
  | { about: "memory_refused"; reason: string }
  | { about: "memory_back" }
  | { about: "put_away"; files: number; bytes: number; leftOut: LeftOut }
  | { about: "put_away_lost" }
  | { about: "options_refused"; refused: readonly RefusedOption[] }
  | { about: "archive_failed"; message: string; times: number }
  | { about: "restore_failed"; message: string; times: number }
  | { about: "imported"; events: number; skipped: number }
  | { about: "continued"; agent: string; sessionId: string }
export type NoteItem = Base & { type: "note"; note: Note }

export type Item = UserItem | MessageItem | ToolItem | PlanItem | WaitItem | RunEndItem | ReceiptItem | NoteItem

export type Prompt = {
  promptId: string
  text: string
  attachments: readonly Attachment[]
  rank: number
  clientMessageId: string | null
  /**
   * `accepted`: its message.user is here, its prompt.queued, which carries the client's id, is not. Shown already, it would
   * stand in the queue beside the unsent message that it came from.
   */
  stage: "accepted" | "queued" | "placed" | "withdrawn"
  /** Why it waits for a person's word; null when it goes by itself. */
  held: string | null
}
export type OpenRun = { runId: string; startedAt: string; cancelRequested: boolean; accessLost: boolean }
export type WakingStep = { name: "executor" | "files" | "memory"; at: string; doneAt: string | null }
/** `restores`: the files come out of an archive first. */
export type Waking = { first: boolean; restores?: boolean; steps: readonly WakingStep[] }
/** What became of the last restore since the task was put away; `seq` is where the log said so. */
export type Comeback =
  | { state: "under_way" | "done"; seq: number; archived: boolean }
  | { state: "failed"; seq: number; archived: boolean; trouble: Trouble }
/** What stands in the way; `of` says which part of the session failed. */
export type Trouble = { of: "executor" | "agent"; reason: string; message: string }
export type Interrupted = { runId: string; reason: InterruptionReason; at: string }

export type Transcript = {
  readonly lastSeq: number
  readonly lastEventAt: string | null
  /** Where the log last told what can be set about the agent, or what is set. */
  readonly setupSeq: number
  readonly items: readonly Item[]
  readonly places: ReadonlyMap<string, number>
  /** Keys of items that a later event of their run may still close. */
  readonly open: ReadonlySet<string>
  readonly prompts: ReadonlyMap<string, Prompt>
  readonly queue: readonly Prompt[]
  readonly run: OpenRun | null
  readonly endedRun: string | null
  /** A person is asked something, and the run stands still until the answer. */
  readonly waiting: boolean
  readonly waking: Waking | null
  readonly processesSince: string | null
  /** Set by run.interrupted, cleared by the next run.started. */
  readonly interrupted: Interrupted | null
  readonly trouble: Trouble | null
  /** The last waking that ended well, all of its steps done. */
  readonly woken: Waking | null
  /** Key of the divider that offers to undo a fresh start. */
  readonly freshStart: string | null
  /** Null while nobody asked for the task back. */
  readonly comeback: Comeback | null
  /** The executor was given up, and has not answered since. */
  readonly abandoned: boolean
}
