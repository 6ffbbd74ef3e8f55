"use client"

import { memo, type ReactNode } from "react"
import { cn } from "@/components/ui/cn"
import { CommandText } from "@/components/ui/command-text"
import { Glyph } from "@/components/ui/glyph"
import { runnableAgain } from "@/lib/client/ended-processes"
import { filesWords, interruptionWords, receiptVerb } from "@/lib/client/event-words"
import { formatBytes, formatMoment, formatSpan, plural } from "@/lib/client/format"
import { leftOutLines, leftOutWords } from "@/lib/client/left-out-words"
import { lookUp } from "@/lib/client/look-up"
import { useAgentName } from "@/lib/client/queries/agents"
import type { Note, NoteItem, ReceiptItem, RunEnd, RunEndItem } from "@/lib/client/transcript-items"
import { useSessionContext } from "./session-context"
import { useFold } from "./use-fold"

const tones = { quiet: "text-text-3", warn: "text-warn", bad: "text-bad" }

/** One quiet line across the transcript. */
function Divider({ children, tone = "quiet" }: { children: ReactNode; tone?: keyof typeof tones }) {
  return (
    <div
      className={cn(
        "flex items-center gap-2.5 text-s before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line",
        tones[tone],
      )}
    >
      <span className="max-w-[85%] text-center">{children}</span>
    </div>
  )
}

function endWords(end: Exclude<RunEnd, { outcome: "failed" }>): ReactNode {
  switch (end.outcome) {
    case "cancelled":
      return end.accessLost ? "Stopped, because you may not run agents here any more" : "You interrupted this run"
    case "stopped":
      return `The agent stopped: ${end.stopReason.replaceAll("_", " ")}`
    case "interrupted":
      return `⚠ interrupted · ${interruptionWords[end.reason] ?? end.reason}`
  }
}

export const RunEndRow = memo(function RunEndRow({ item }: { item: RunEndItem }) {
  const { end } = item
  if (end.outcome === "failed") return <FailedRun foldKey={item.key} end={end} />
  return (
    <Divider tone={end.outcome === "interrupted" ? "warn" : "quiet"}>
      {endWords(end)} · {formatMoment(item.ts, Date.now())}
    </Divider>
  )
})

const failedWords: Record<string, string> = {
  sign_in_needed: "The agent is not signed in.",
  rate_limited: "The model's rate limit is reached.",
  context_too_long: "The conversation is too long for the model.",
  unknown_session: "The agent does not know this conversation any more.",
}

function FailedRun({ foldKey, end }: { foldKey: string; end: Extract<RunEnd, { outcome: "failed" }> }) {
  const [open, toggle] = useFold(foldKey)
  const stderr = end.stderr.trim()
  return (
    <div className="rounded-md border border-[color-mix(in_oklab,var(--bad)_35%,var(--line))] bg-bad-soft px-3 py-2">
      <div className="flex items-baseline gap-2">
        <Glyph name="cross" className="translate-y-[2px]" />
        <div className="min-w-0 break-words">
          <span className="font-[530]">{lookUp(failedWords, end.reason) ?? "This run failed."}</span>{" "}
          <span className="text-text-2">{end.message}</span>
          <div className="text-s text-text-2">
            What was said so far is kept.
            {stderr !== "" && <FoldButton open={open} onToggle={toggle} />}
          </div>
        </div>
      </div>
      {open && <Output text={stderr} />}
    </div>
  )
}

const FoldButton = ({ open, onToggle }: { open: boolean; onToggle: () => void }) => (
  <button type="button" aria-expanded={open} onClick={onToggle} className="ml-2 underline underline-offset-2 touch:min-h-11">
    {open ? "Hide output" : "Show output"}
  </button>
)

const Output = ({ text }: { text: string }) => (
  <pre className="mt-2 max-h-60 overflow-auto whitespace-pre-wrap rounded-md border border-line-soft bg-panel px-2.5 py-2 font-mono text-s text-text-2">
    {text}
  </pre>
)

export const ReceiptRow = memo(function ReceiptRow({ item }: { item: ReceiptItem }) {
  const [open, toggle] = useFold(item.key)
  const { receipt } = item
  const ended = receipt.processes.filter((process) => process.outcome === "ended").length
  return (
    <div>
      <Divider>
        <button
          type="button"
          aria-expanded={open}
          onClick={toggle}
          className="rounded-sm px-1.5 py-0.5 hover:bg-hover hover:text-text-2 touch:min-h-11"
        >
          {receiptVerb(receipt)} {formatMoment(receipt.ts, Date.now())} ·{" "}
          <b className={cn("font-[530]", receipt.agent_memory === "none" ? "text-warn" : "text-alive")}>memory: {receipt.agent_memory}</b> ·{" "}
          {filesWords(receipt.files)}
          {ended > 0 && ` · ${plural(ended, "process", "processes")} ended`}
        </button>
      </Divider>
      {open && (
        <dl className="mx-auto mt-2 grid max-w-[480px] grid-cols-[minmax(0,auto)_1fr] gap-x-5 gap-y-1 rounded-md border border-line-soft bg-panel px-3.5 py-2.5 text-s">
          <Line term="Level">{receipt.level}</Line>
          <Line term="Agent's memory">{receipt.agent_memory}</Line>
          <Line term="Conversation">{plural(receipt.messages, "message")}</Line>
          <Line term="Files">
            {filesWords(receipt.files)}
            {typeof receipt.files === "object" &&
              "archive" in receipt.files &&
              `, from an archive of ${formatBytes(receipt.files.archive.bytes)}`}
            {typeof receipt.files === "object" && "lost" in receipt.files && `: ${receipt.files.lost.paths.join(", ")}`}
          </Line>
          {typeof receipt.files === "object" &&
            "archive" in receipt.files &&
            leftOutLines(receipt.files.archive.left_out ?? []).map(({ what, names, how }) => (
              <Line key={what} term={`Not archived: ${what}`}>
                {names}
                {how !== "" && ` · ${how}`}
              </Line>
            ))}
          {receipt.processes.map((process, at) => (
            <ProcessLine key={at} process={process} />
          ))}
          <Line term="Queue">{plural(receipt.queue, "prompt")}</Line>
          {receipt.attempts.map((attempt, at) => (
            <Line key={at} term={`Tried: ${attempt.strategy}`}>
              {attempt.outcome}
              {attempt.notes?.map((note) => (
                <span key={note} className="block text-text-3">
                  {note}
                </span>
              ))}
            </Line>
          ))}
          <Line term="Took">{formatSpan(receipt.took_ms)}</Line>
        </dl>
      )}
    </div>
  )
})

/** What ran in a terminal is named by its line, and can be typed there again. */
function ProcessLine({ process }: { process: ReceiptItem["receipt"]["processes"][number] }) {
  const { runAgain, hasTerminal } = useSessionContext()
  const { what, outcome, worker_id } = process
  const command = runnableAgain(process)
  return (
    <Line term={command === null ? what : <CommandText command={command} />}>
      {outcome}
      {command !== null && worker_id !== undefined && hasTerminal(worker_id) && (
        <button
          type="button"
          onClick={() => runAgain(worker_id, command)}
          className="ml-2 text-text underline underline-offset-2 touch:min-h-11"
        >
          Run again
        </button>
      )}
    </Line>
  )
}

function Line({ term, children }: { term: ReactNode; children: ReactNode }) {
  return (
    <>
      <dt className="min-w-0 break-words text-text-3">{term}</dt>
      <dd className="min-w-0 break-words text-text-2">{children}</dd>
    </>
  )
}

const startWords = {
  new: "Agent started",
  loaded: "Agent started again, with its own memory",
  resumed: "Agent started again, with its own memory",
  injected: "Agent started again; it reads the conversation with your next message",
  idle: "Agent started again, without memory of this conversation",
  adopted: "Same agent, still running",
} as const

function noteWords(note: Note): ReactNode {
  switch (note.about) {
    case "agent_started":
      return startWords[note.strategy]
    case "agent_exited":
      return `Agent exited${note.signal ? ` (${note.signal})` : note.code === null ? "" : ` (code ${note.code})`}`
    case "resume_failed":
      return `Could not be resumed: ${note.reason}`
    case "executor_error":
      return `Executor failed${note.times > 1 ? ` ${note.times} times` : ""}: ${note.message}`
    case "gap":
      return `Some output was not kept (records ${note.from}–${note.to})`
    case "rejected":
      return <RejectedWords reason={note.reason} download={note.download} />
    case "options_refused":
      return note.refused.map(({ name, value, reason }) => `${name} could not be set to ${value}: ${reason}`).join(" ")
    case "fresh_start":
      return note.undoable ? "Started fresh: the agent's memory of what is above was put aside" : "Started fresh"
    case "memory_refused":
      return `The agent refused its earlier conversation: ${note.reason}`
    case "memory_back":
      return "Undone: the agent's earlier memory is back"
    case "put_away":
      return `Put away: ${plural(note.files, "file")}, ${formatBytes(note.bytes)}${leftOutWords(note.leftOut)}`
    case "put_away_lost":
      return "Put away without an archive: the files are lost"
    case "archive_failed":
      return `Could not be put away${note.times > 1 ? `, ${note.times} times` : ""}: ${note.message} Everything is still there`
    case "restore_failed":
      return `Could not be brought back${note.times > 1 ? `, ${note.times} times` : ""}: ${note.message}`
    case "imported":
      return `Imported from another server: ${plural(note.events, "event")}${note.skipped > 0 ? `, ${note.skipped} skipped` : ""}`
    case "continued":
      return <ContinuedWords agent={note.agent} />
  }
}

function RejectedWords({ reason, download }: { reason: string; download: string | null }) {
  return (
    <>
      Not in the log: {reason}
      {download !== null && (
        <a href={download} download className="ml-2 text-text underline underline-offset-2">
          Download
        </a>
      )}
    </>
  )
}

function ContinuedWords({ agent }: { agent: string }) {
  const agentName = useAgentName()
  return <>Goes on from the session with {agentName(agent)}; that conversation goes along with your first message</>
}

const noteTones: Record<Note["about"], keyof typeof tones> = {
  agent_started: "quiet",
  agent_exited: "warn",
  resume_failed: "warn",
  executor_error: "bad",
  gap: "warn",
  rejected: "warn",
  options_refused: "warn",
  fresh_start: "quiet",
  memory_refused: "warn",
  memory_back: "quiet",
  put_away: "quiet",
  put_away_lost: "bad",
  archive_failed: "warn",
  restore_failed: "bad",
  imported: "quiet",
  continued: "quiet",
}

export const NoteRow = memo(function NoteRow({ item }: { item: NoteItem }) {
  const [open, toggle] = useFold(item.key)
  const { undoFresh } = useSessionContext()
  const { note } = item
  const stderr = note.about === "agent_exited" ? note.stderr.trim() : ""
  return (
    <div>
      <Divider tone={noteTones[note.about]}>
        {noteWords(note)} · {formatMoment(item.ts, Date.now())}
        {stderr !== "" && <FoldButton open={open} onToggle={toggle} />}
        {note.about === "fresh_start" && note.undoable && (
          <button type="button" onClick={undoFresh} className="ml-2 text-text underline underline-offset-2 touch:min-h-11">
            Undo
          </button>
        )}
      </Divider>
      {open && <Output text={stderr} />}
    </div>
  )
})
