"use client"

import { Button } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { takeFocus } from "@/lib/client/hooks"

/** Says what giving up means, and what it does not: the executor may be working all the while. */
export function AbandonDialog({ onClose, onAbandon }: { onClose: () => void; onAbandon: () => void }) {
  const abandon = () => {
    onClose()
    onAbandon()
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Abandon this executor?"
      description="The run is marked as interrupted, and what the agent still does is not shown. The executor, should it come back, is told to stop this session. Transcript, queue and files are kept."
    >
      <DialogActions>
        <Button onClick={onClose} ref={takeFocus}>
          Keep waiting
        </Button>
        <Button look="danger" onClick={abandon}>
          Abandon
        </Button>
      </DialogActions>
    </Dialog>
  )
}
