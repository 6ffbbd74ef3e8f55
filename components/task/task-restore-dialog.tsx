"use client"

import { useRef } from "react"
import { Button } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { FormError } from "@/components/ui/field"
import { Glyph } from "@/components/ui/glyph"
import { ProgressBar } from "@/components/ui/progress-bar"
import { takeFocus, useNow } from "@/lib/client/hooks"
import { comesBack, expiryWords, progressPercent, progressSpoken, progressWords, type RestoreStage } from "@/lib/client/task-restore"
import type { RestorePreview, RestoreProgress } from "@/lib/contracts/restore"

export type TaskRestoreDialogProps = {
  stage: RestoreStage
  preview: RestorePreview | undefined
  /** Waiting to be sent, oldest first. */
  messages: readonly string[]
  /** How much was said so far; null when the page does not know. */
  conversation: string | null
  onContinue: () => void
  onNewChat: () => void
  onClose: () => void
}

/** Asks whether an expired task should come back, says with what, and shows it coming. */
export function TaskRestoreDialog({ stage, preview, messages, conversation, ...acts }: TaskRestoreDialogProps) {
  const now = useNow(30_000) || Date.now()
  const busy = stage.kind === "asked" || stage.kind === "restoring"
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && acts.onClose()}
      title="Continue this task?"
      description={preview ? expiryWords(preview, now) : "This task was not used for a while. It can be brought back."}
      className="w-[min(500px,calc(100vw-32px))]"
      onCloseFocus={focusComposer}
    >
      {preview ? (
        <WhatComesBack preview={preview} conversation={conversation} now={now} />
      ) : (
        <div className="mt-3.5 h-[104px] rounded-md bg-panel" />
      )}
      {busy && <Progress progress={stage.kind === "restoring" ? (preview?.progress ?? null) : null} />}
      {stage.kind === "failed" && (
        <div className="mt-3">
          <FormError>
            {stage.sentence} {messages.length > 0 && failedMessageWords[stage.message]}
          </FormError>
        </div>
      )}
      {messages.length > 0 && <Messages messages={messages} />}
      <DialogActions>
        <Actions stage={stage} {...acts} />
      </DialogActions>
    </Dialog>
  )
}

const focusComposer = () => document.querySelector<HTMLElement>("[data-composer]")?.focus()

const failedMessageWords = {
  kept: "Your message is kept and waits in the queue.",
  here: "Your message is kept here.",
  unknown: "Whether your message arrived is not known; trying again sends it once.",
}

function WhatComesBack({ preview, conversation, now }: { preview: RestorePreview; conversation: string | null; now: number }) {
  return (
    <ul aria-label="What comes back" className="mt-3.5 grid gap-[5px] rounded-md border border-line-soft bg-panel px-[13px] py-[11px]">
      {comesBack(preview, conversation, now).map(({ what, how, comes, names }) => (
        <li key={what} className="flex items-baseline gap-2.5">
          <Glyph name={comes ? "done" : "cross"} className={comes ? "translate-y-[2px]" : "translate-y-[2px] text-text-3!"} />
          <span className="min-w-0 flex-1">
            {what}
            {names !== undefined && <span className="block text-s text-text-3 [overflow-wrap:anywhere]">{names}</span>}
          </span>
          <span className="shrink-0 text-s text-text-3 tabular-nums">{how}</span>
        </li>
      ))}
    </ul>
  )
}

/** The last figures stay while the agent is started: a bar that falls back to nothing would look like a loss. */
function Progress({ progress }: { progress: RestoreProgress | null }) {
  const last = useRef<RestoreProgress | null>(null)
  if (progress) last.current = progress
  const words = progress ? progressWords(progress) : last.current ? "Files are back. Starting the agent…" : "Starting the executor…"
  return (
    <div className="mt-3.5">
      <ProgressBar label="Restoring" percent={progress ? progressPercent(progress) : last.current ? 100 : 0} />
      <p className="mt-1.5 text-s text-text-3 tabular-nums" aria-hidden="true">
        {words}
      </p>
      <span role="status" className="sr-only">
        {progress ? progressSpoken(progress) : words}
      </span>
    </div>
  )
}

/** A long message is shown by its beginning; all of it is sent. */
const SHOWN_CHARS = 600

function Messages({ messages }: { messages: readonly string[] }) {
  return (
    <section aria-label="Will be sent afterwards" className="mt-3 border-line border-l-2 py-0.5 pl-[11px] text-text-2">
      <div className="text-text-3 text-xs">Will be sent afterwards</div>
      <div className="max-h-[22dvh] overflow-y-auto whitespace-pre-wrap [overflow-wrap:anywhere]">
        {messages.map((text, at) => (
          <p key={at} className="mt-1 first:mt-0">
            {text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text}
          </p>
        ))}
      </div>
    </section>
  )
}

type ActionsProps = Pick<TaskRestoreDialogProps, "stage" | "onContinue" | "onNewChat" | "onClose">

function Actions({ stage, onContinue, onNewChat, onClose }: ActionsProps) {
  switch (stage.kind) {
    case "asked":
    case "restoring":
    case "over":
      return (
        <Button key="hide" look="quiet" onClick={onClose} ref={takeFocus}>
          Hide
        </Button>
      )
    case "failed":
      // A message that the server has, or may have, must not be said a second time elsewhere.
      return (
        <>
          {stage.message === "here" ? (
            <Button look={stage.retryable ? "plain" : "primary"} onClick={onNewChat}>
              New chat
            </Button>
          ) : (
            <Button look="quiet" onClick={onClose}>
              Close
            </Button>
          )}
          {stage.retryable && (
            <Button key="retry" look="primary" onClick={onContinue} ref={takeFocus}>
              Retry
            </Button>
          )}
        </>
      )
    case "asking":
      return (
        <>
          <Button onClick={onNewChat}>New chat</Button>
          <Button key="continue" look="primary" onClick={onContinue} ref={takeFocus}>
            Continue chat
          </Button>
        </>
      )
  }
}
