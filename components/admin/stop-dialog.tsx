"use client"

import { Button } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { takeFocus } from "@/lib/client/hooks"
import { useAgentName } from "@/lib/client/queries/agents"
import type { AdminSession } from "@/lib/contracts/admin"

export function StopDialog({ session, onClose, onStop }: { session: AdminSession; onClose: () => void; onStop: () => void }) {
  const agent = useAgentName()(session.agent_profile_id)
  const works = session.status === "running" || session.status === "waiting"
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Stop this agent?"
      description={
        <>
          {agent} of {session.owner} ends in “{session.title}”.{works && " What it is doing now breaks off."} Transcript, queue and files
          stay, and a message wakes it again.
        </>
      }
    >
      <DialogActions>
        <Button onClick={onClose} ref={takeFocus}>
          Keep running
        </Button>
        <Button look="danger" onClick={onStop}>
          Stop
        </Button>
      </DialogActions>
    </Dialog>
  )
}
