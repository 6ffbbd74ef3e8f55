"use client"

import type { ReactNode } from "react"
import { errorSentence } from "@/lib/client/error-sentence"
import { takeFocus } from "@/lib/client/hooks"
import { Button } from "./button"
import { Dialog, DialogActions } from "./dialog"
import { FormError } from "./field"

type ConfirmDialogProps = {
  title: string
  description: ReactNode
  /** What will happen, one sentence each. */
  consequences?: readonly string[]
  confirm: string
  cancel?: string
  look?: "primary" | "danger"
  change: { isPending: boolean; error: Error | null }
  onConfirm: () => void
  onClose: () => void
}

/** Asks before something is changed; stays open with the reason when the server refuses. */
export function ConfirmDialog({
  title,
  description,
  consequences = [],
  confirm,
  cancel = "Cancel",
  look = "danger",
  change,
  onConfirm,
  onClose,
}: ConfirmDialogProps) {
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={title} description={description}>
      {consequences.length > 0 && (
        <ul aria-label="What will happen" className="mt-3 flex list-disc flex-col gap-1 pl-4.5 text-text-2 marker:text-text-3">
          {consequences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      {change.error && (
        <div className="mt-3">
          <FormError>{errorSentence(change.error)}</FormError>
        </div>
      )}
      <DialogActions>
        <Button onClick={onClose} ref={takeFocus}>
          {cancel}
        </Button>
        <Button look={look} disabled={change.isPending} onClick={onConfirm}>
          {confirm}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
