"use client"

import { Button } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { Glyph } from "@/components/ui/glyph"
import { takeFocus } from "@/lib/client/hooks"

type FreshDialogProps = { agentName: string; onClose: () => void; onFresh: () => void }

/** Says before it happens what is lost, what is kept, and that it can be undone. */
export function FreshDialog({ agentName, onClose, onFresh }: FreshDialogProps) {
  const kept = ["The files in the workspace", "The transcript", "Messages that are queued"]
  const start = () => {
    onClose()
    onFresh()
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Start fresh?"
      description={`A new ${agentName} is started in this session. It does not know what was said so far. You can undo this.`}
    >
      <ul className="mt-3 grid gap-1.5 rounded-md border border-line-soft bg-panel px-[13px] py-[11px]">
        <li className="flex items-center gap-2">
          <Glyph name="cross" />
          The agent's memory of this conversation
          <span className="ml-auto text-s text-text-3">put aside</span>
        </li>
        {kept.map((what) => (
          <li key={what} className="flex items-center gap-2">
            <Glyph name="done" />
            {what}
            <span className="ml-auto text-s text-text-3">kept</span>
          </li>
        ))}
      </ul>
      <DialogActions>
        <Button onClick={onClose} ref={takeFocus}>
          Cancel
        </Button>
        <Button look="primary" onClick={start}>
          Start fresh
        </Button>
      </DialogActions>
    </Dialog>
  )
}
