"use client"

import type { FormEvent } from "react"
import { Button } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { Field } from "@/components/ui/field"
import { errorSentence } from "@/lib/client/error-sentence"
import { takeFocus } from "@/lib/client/hooks"
import { usePatchTask } from "@/lib/client/queries/tasks"
import type { TaskView } from "@/lib/contracts/task"

export function RenameTaskDialog({ task, onClose }: { task: TaskView; onClose: () => void }) {
  const patch = usePatchTask(task.id)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const title = String(new FormData(event.currentTarget).get("title")).trim()
    if (title === "" || title === task.title) onClose()
    else patch.mutate({ title }, { onSuccess: onClose })
  }
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title="Rename task">
      <form onSubmit={submit} className="mt-3">
        <Field
          label="Title"
          name="title"
          defaultValue={task.title}
          maxLength={200}
          ref={takeFocus}
          onFocus={(e) => e.currentTarget.select()}
          error={patch.error ? errorSentence(patch.error) : null}
        />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={patch.isPending}>
            Rename
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
