"use client"

import { ArrowDown, ArrowUp, Paperclip, Pencil, X } from "lucide-react"
import { useState } from "react"
import { Button, IconButton } from "@/components/ui/button"
import { attachmentsWords } from "@/lib/client/attachments"
import { errorSentence } from "@/lib/client/error-sentence"
import { takeFocus } from "@/lib/client/hooks"
import type { Unsent } from "@/lib/client/outbox"
import { usePatchPrompt, useWithdrawPrompt } from "@/lib/client/queries/session"
import type { Prompt } from "@/lib/client/transcript-items"
import type { Attachment } from "@/lib/contracts/attachments"
import { heldSentence } from "@/lib/contracts/sentences"

type QueueProps = {
  sessionId: string
  queue: readonly Prompt[]
  unsent: readonly Unsent[]
} & UnsentActions

type UnsentActions = {
  onRetry: (entry: Unsent) => void
  /** Puts the text back into the composer. */
  onEdit: (entry: Unsent) => void
  onDiscard: (entry: Unsent) => void
}

/** What will be said next, above the composer: accepted prompts, then messages still on their way to the server. */
export function Queue({ sessionId, queue, unsent, ...actions }: QueueProps) {
  if (queue.length === 0 && unsent.length === 0) return null
  return (
    <section
      aria-label="Queue"
      className="mx-2.5 max-h-[28dvh] overflow-y-auto rounded-t-md border border-line-soft border-b-0 bg-panel text-s text-text-2"
    >
      <ul className="divide-y divide-line-soft">
        {queue.map((prompt, at) => (
          <QueuedRow key={prompt.promptId} sessionId={sessionId} prompt={prompt} at={at} count={queue.length} />
        ))}
        {unsent.map((entry) => (
          <UnsentRow key={entry.clientMessageId} entry={entry} {...actions} />
        ))}
      </ul>
    </section>
  )
}

/** One line of it is seen; the rest of a very long message only costs layout. */
const preview = (text: string) => text.slice(0, 500)

function MessageLine({ text, attachments }: { text: string; attachments: readonly Attachment[] }) {
  return (
    <>
      <span className={text === "" ? "sr-only" : "min-w-0 flex-1 truncate text-text"} title={preview(text)}>
        {preview(text)}
      </span>
      <AttachedNames attachments={attachments} wide={text === ""} />
    </>
  )
}

function AttachedNames({ attachments, wide }: { attachments: readonly Attachment[]; wide: boolean }) {
  if (attachments.length === 0) return null
  return (
    <span
      title={attachmentsWords(attachments)}
      className={wide ? "flex min-w-0 flex-1 items-center gap-1" : "flex shrink-0 items-center gap-1"}
    >
      <Paperclip aria-hidden className="size-3 shrink-0" />
      <span aria-hidden className="truncate">
        {wide ? attachments.map(({ name }) => name).join(", ") : attachments.length}
      </span>
      <span className="sr-only">{attachmentsWords(attachments)}</span>
    </span>
  )
}

const rowClass = "flex min-h-[30px] items-center gap-2 pr-1 pl-[11px]"

function QueuedRow({ sessionId, prompt, at, count }: { sessionId: string; prompt: Prompt; at: number; count: number }) {
  const [editing, setEditing] = useState(false)
  const patch = usePatchPrompt(sessionId)
  const withdraw = useWithdrawPrompt(sessionId)
  const error = patch.error ?? withdraw.error
  const move = (position: number) => patch.mutate({ promptId: prompt.promptId, position })
  if (editing) {
    const save = (message: string) => {
      setEditing(false)
      const says = message.trim() !== "" || prompt.attachments.length > 0
      if (says && message !== prompt.text) patch.mutate({ promptId: prompt.promptId, message })
    }
    return (
      <li className="p-1.5">
        <EditPrompt text={prompt.text} attachments={prompt.attachments} onSave={save} onCancel={() => setEditing(false)} />
      </li>
    )
  }
  if (prompt.held !== null) {
    return (
      <li>
        <div className={rowClass}>
          <span className="shrink-0 text-warn">Held:</span>
          <MessageLine text={prompt.text} attachments={prompt.attachments} />
          <span className="flex shrink-0">
            <Button
              look="quiet"
              className="py-0.5"
              disabled={patch.isPending}
              onClick={() => patch.mutate({ promptId: prompt.promptId, held: false })}
            >
              Send
            </Button>
            <Button look="quiet" className="py-0.5" disabled={withdraw.isPending} onClick={() => withdraw.mutate(prompt.promptId)}>
              Withdraw
            </Button>
          </span>
        </div>
        <p className="px-[11px] pb-1.5 text-text-3">{heldSentence(prompt.held)}</p>
        {error && <QueueError error={error} />}
      </li>
    )
  }
  return (
    <li>
      <div className={rowClass}>
        <span className="shrink-0 text-text-3">{at === 0 ? "Next:" : `${at + 1}.`}</span>
        <MessageLine text={prompt.text} attachments={prompt.attachments} />
        <span className="flex shrink-0">
          {count > 1 && (
            <>
              <IconButton label="Move up" disabled={at === 0 || patch.isPending} onClick={() => move(at - 1)} className="size-6">
                <ArrowUp className="size-3.5" />
              </IconButton>
              <IconButton label="Move down" disabled={at === count - 1 || patch.isPending} onClick={() => move(at + 1)} className="size-6">
                <ArrowDown className="size-3.5" />
              </IconButton>
            </>
          )}
          <IconButton label="Edit" onClick={() => setEditing(true)} className="size-6">
            <Pencil className="size-3" />
          </IconButton>
          <IconButton label="Withdraw" disabled={withdraw.isPending} onClick={() => withdraw.mutate(prompt.promptId)} className="size-6">
            <X className="size-3.5" />
          </IconButton>
        </span>
      </div>
      {error && <QueueError error={error} />}
    </li>
  )
}

function QueueError({ error }: { error: Error }) {
  return (
    <p role="alert" className="px-[11px] pb-1 text-bad">
      {errorSentence(error)}
    </p>
  )
}

type EditPromptProps = { text: string; attachments: readonly Attachment[]; onSave: (text: string) => void; onCancel: () => void }

function EditPrompt({ text, attachments, onSave, onCancel }: EditPromptProps) {
  const [draft, setDraft] = useState(text)
  return (
    <div>
      <textarea
        aria-label="Edit queued message"
        value={draft}
        ref={takeFocus}
        onFocus={(event) => event.currentTarget.setSelectionRange(draft.length, draft.length)}
        rows={Math.min(8, draft.split("\n").length + 1)}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.stopPropagation()
            onCancel()
          } else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault()
            onSave(draft)
          }
        }}
        className="block w-full resize-none rounded-sm border border-line bg-bg px-2 py-1 text-m text-text outline-none focus-visible:border-alive"
      />
      <div className="mt-1.5 flex items-center justify-end gap-1.5">
        <AttachedNames attachments={attachments} wide />
        <Button look="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <Button onClick={() => onSave(draft)}>Save</Button>
      </div>
    </div>
  )
}

const unsentWord: Record<Unsent["state"], string> = {
  sending: "Sending:",
  accepted: "Sent:",
  unreachable: "Not sent yet:",
  refused: "Not sent:",
  expired: "Waiting:",
}

function UnsentRow({ entry, onRetry, onEdit, onDiscard }: UnsentActions & { entry: Unsent }) {
  const failed = entry.state === "unreachable" || entry.state === "refused"
  return (
    <li>
      <div className={rowClass}>
        <span className={failed ? "shrink-0 text-warn" : "shrink-0 text-text-3"}>{unsentWord[entry.state]}</span>
        <MessageLine text={entry.text} attachments={entry.attachments ?? []} />
        {failed && (
          <span className="flex shrink-0">
            <Button look="quiet" className="py-0.5" onClick={() => onRetry(entry)}>
              Retry
            </Button>
            {/* One that may have arrived is not edited: sent again under a new id it could be said twice. */}
            {entry.state === "refused" && (
              <Button look="quiet" className="py-0.5" onClick={() => onEdit(entry)}>
                Edit
              </Button>
            )}
            <Button look="quiet" className="py-0.5" onClick={() => onDiscard(entry)}>
              Discard
            </Button>
          </span>
        )}
      </div>
      {failed && entry.sentence && <p className="px-[11px] pb-1.5 text-text-3">{entry.sentence}</p>}
    </li>
  )
}
