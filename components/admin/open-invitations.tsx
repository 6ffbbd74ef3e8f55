"use client"

import { useState } from "react"
import { Button } from "@/components/ui/button"
import { ConfirmDialog } from "@/components/ui/confirm-dialog"
import { FormError } from "@/components/ui/field"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatFull } from "@/lib/client/format"
import { useInvitations, useRevokeInvitation } from "@/lib/client/queries/users"
import type { InvitationView } from "@/lib/contracts/people"
import { Tag } from "./session-words"

export function OpenInvitations() {
  const invitations = useInvitations()
  const [revoking, setRevoking] = useState<InvitationView | null>(null)
  if (invitations.error) return <FormError>{errorSentence(invitations.error)}</FormError>
  if (!invitations.data || invitations.data.length === 0) return null
  return (
    <>
      <h3 className="mt-4 mb-1 font-[530] text-s text-text-2">Open invitations</h3>
      <ul aria-label="Open invitations" className="-mb-2 divide-y divide-line-soft border-line-soft border-t">
        {invitations.data.map((invitation) => (
          <li key={invitation.id} className="flex items-center gap-3 py-1.5">
            <div className="min-w-0 flex-1">
              <div className="truncate font-[500]">{invitation.email}</div>
              <div className="text-s text-text-3">
                by {invitation.created_by ?? "the command line"} · expires {formatFull(invitation.expires_at)}
              </div>
            </div>
            <Tag>{invitation.role}</Tag>
            <Button look="quiet" aria-label={`Revoke the invitation of ${invitation.email}`} onClick={() => setRevoking(invitation)}>
              Revoke
            </Button>
          </li>
        ))}
      </ul>
      {revoking && <RevokeDialog invitation={revoking} onClose={() => setRevoking(null)} />}
    </>
  )
}

function RevokeDialog({ invitation, onClose }: { invitation: InvitationView; onClose: () => void }) {
  const revoke = useRevokeInvitation()
  return (
    <ConfirmDialog
      title="Revoke this invitation?"
      description={`The link for ${invitation.email} stops working. You can create another one at any time.`}
      confirm="Revoke"
      change={revoke}
      onConfirm={() => revoke.mutate(invitation.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}
