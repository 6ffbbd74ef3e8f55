"use client"

import { Button } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { plural } from "@/lib/client/format"
import { takeFocus } from "@/lib/client/hooks"
import type { WorkerDetail } from "@/lib/contracts/workers"

/** Asked only when something runs in it, by name. */
export function CloseDialog({ worker, onClose, onEnd }: { worker: WorkerDetail; onClose: () => void; onEnd: () => void }) {
  const { processes } = worker
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Close ${worker.name}?`}
      description={`${plural(processes.length, "program")} in it will end, with everything started from there. Its output goes too.`}
    >
      <ul className="mt-3 grid max-h-48 gap-1 overflow-y-auto rounded-md border border-line-soft bg-panel px-[13px] py-[9px]">
        {processes.map(({ command }, at) => (
          <li key={at} className="truncate font-mono text-s text-text-2" title={command}>
            {command}
          </li>
        ))}
      </ul>
      <DialogActions>
        <Button onClick={onClose} ref={takeFocus}>
          Keep it
        </Button>
        <Button look="danger" onClick={onEnd}>
          End and close
        </Button>
      </DialogActions>
    </Dialog>
  )
}
