"use client"

import { useParams, useRouter } from "next/navigation"
import { Button } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { FormError } from "@/components/ui/field"
import { errorSentence } from "@/lib/client/error-sentence"
import { plural } from "@/lib/client/format"
import { takeFocus } from "@/lib/client/hooks"
import { useDeleteTask } from "@/lib/client/queries/tasks"
import type { TaskView } from "@/lib/contracts/task"

export function DeleteTaskDialog({ task, onClose }: { task: TaskView; onClose: () => void }) {
  const remove = useDeleteTask(task.id)
  const router = useRouter()
  const shown = useParams().taskId === String(task.id)
  const confirm = () =>
    remove.mutate(undefined, {
      onSuccess: () => {
        onClose()
        if (shown) router.replace("/tasks")
      },
    })
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Delete this task?"
      description={
        <>
          “{task.title}” goes for good: {plural(task.sessions.length, "session")}, with transcript and workspace. A running agent is
          stopped. To only put it out of sight, hide it instead.
        </>
      }
    >
      {remove.error && (
        <div className="mt-3">
          <FormError>{errorSentence(remove.error)}</FormError>
        </div>
      )}
      <DialogActions>
        <Button onClick={onClose} ref={takeFocus}>
          Keep
        </Button>
        <Button look="danger" disabled={remove.isPending} onClick={confirm}>
          {remove.isPending ? "Deleting…" : "Delete"}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
