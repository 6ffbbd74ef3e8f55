"use client"

import { useId, useState } from "react"
import { ConfirmDialog } from "@/components/ui/confirm-dialog"
import { FormError } from "@/components/ui/field"
import { Section } from "@/components/ui/page"
import { Switch } from "@/components/ui/switch"
import { errorSentence } from "@/lib/client/error-sentence"
import { usePatchServerSettings, useServerSettings } from "@/lib/client/queries/users"

/** Whether users who are not admins may use the standalone runtime. */
export function StandaloneSetting() {
  const settings = useServerSettings()
  const [asking, setAsking] = useState(false)
  const note = useId()
  const allowed = settings.data?.standalone_for_users ?? false
  return (
    <Section title="Where users may run agents">
      <p id={note} className="mb-3 max-w-[640px] text-text-2">
        Agents and terminals in the standalone runtime run with the rights of the account the server runs under. Whoever uses it can read
        and change everything that account can: other users' workspaces, the database, this server's keys and files.
      </p>
      {settings.error && <FormError>{errorSentence(settings.error)}</FormError>}
      {settings.data && (
        <Switch
          label="Users may run agents directly on this machine"
          describedBy={note}
          checked={allowed}
          onChange={() => setAsking(true)}
        />
      )}
      <p className="mt-2 text-s text-text-3">Admins always may.</p>
      {asking && <SettingDialog allow={!allowed} onClose={() => setAsking(false)} />}
    </Section>
  )
}

function SettingDialog({ allow, onClose }: { allow: boolean; onClose: () => void }) {
  const patch = usePatchServerSettings()
  const shared = {
    change: patch,
    onConfirm: () => patch.mutate({ standalone_for_users: allow }, { onSuccess: onClose }),
    onClose,
  }
  return allow ? (
    <ConfirmDialog
      {...shared}
      title="Let users run agents on this machine?"
      description="Only do this if you trust every user as much as the server's own account."
      consequences={[
        "Every user can start agents and terminals with the rights of the account the server runs under.",
        "Each of them can read and change other users' workspaces, the database, and this server's keys and files.",
        "Messages that were held stay held until their owner releases them.",
      ]}
      confirm="Allow"
    />
  ) : (
    <ConfirmDialog
      {...shared}
      title="Stop users from running agents here?"
      description="From now on only admins can run agents and terminals on this machine."
      consequences={[
        "Running agents and terminals of users who are not admins are stopped.",
        "Their queued messages are held.",
        "Their transcripts and files stay, and they can still read them.",
      ]}
      confirm="Stop and disallow"
    />
  )
}
