"use client"

import { useRef } from "react"
import { Button } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import type { WorkerView } from "@/lib/contracts/workers"

type RestartDialogProps = { worker: WorkerView; running: boolean; onClose: () => void; onRestart: (goOn: boolean) => void }

/** A shell is new either way; an agent goes on with its conversation, or begins another. */
export function RestartDialog({ worker, running, onClose, onRestart }: RestartDialogProps) {
  const agent = worker.type === "agent"
  const first = useRef<HTMLButtonElement>(null)
  const choose = (goOn: boolean) => {
    onClose()
    onRestart(goOn)
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      onOpenFocus={() => first.current?.focus()}
      title={`Restart ${worker.name}?`}
      description={
        agent
          ? `${running ? "What runs in it ends. " : ""}Continue goes on with its conversation; New session begins another, and leaves the old one where it is.`
          : "What runs in it ends, with everything it started. Its output stays above the new shell."
      }
    >
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        {agent ? (
          <>
            <Button onClick={() => choose(false)}>New session</Button>
            <Button look="primary" ref={first} onClick={() => choose(true)}>
              Continue
            </Button>
          </>
        ) : (
          <Button look="primary" ref={first} onClick={() => choose(false)}>
            Restart
          </Button>
        )}
      </DialogActions>
    </Dialog>
  )
}
