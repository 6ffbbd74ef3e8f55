"use client"

import { useState } from "react"
import { Button } from "@/components/ui/button"
import { ConfirmDialog } from "@/components/ui/confirm-dialog"
import { FormError } from "@/components/ui/field"
import { Section } from "@/components/ui/page"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatFull, formatSeen } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import { useDeleteToken, useTokens } from "@/lib/client/queries/account"
import type { ApiToken } from "@/lib/contracts/people"
import { TokenForm } from "./token-form"

export function TokensSection() {
  const tokens = useTokens()
  const [revoking, setRevoking] = useState<ApiToken | null>(null)
  return (
    <Section title="API tokens" lead="For programs that act as you. A token is shown once, when it is made.">
      <TokenForm />
      {tokens.error && <FormError>{errorSentence(tokens.error)}</FormError>}
      <ul aria-label="API tokens" className="mt-4 -mb-2 divide-y divide-line-soft border-line-soft border-t">
        {tokens.data?.length === 0 && <li className="py-3 text-text-3">No tokens yet.</li>}
        {tokens.data?.map((token) => (
          <TokenRow key={token.id} token={token} onRevoke={() => setRevoking(token)} />
        ))}
      </ul>
      {revoking && <RevokeDialog token={revoking} onClose={() => setRevoking(null)} />}
    </Section>
  )
}

function TokenRow({ token, onRevoke }: { token: ApiToken; onRevoke: () => void }) {
  const now = useNow(30_000)
  const expired = now > 0 && Date.parse(token.expires_at) <= now
  const used = token.last_used_at === null ? "never used" : `used ${now > 0 ? formatSeen(token.last_used_at, now) : ""}`
  return (
    <li className="flex items-center gap-3 py-2">
      <div className="min-w-0 flex-1">
        <div className="truncate font-[500]">
          {token.name}
          <span className="font-normal text-text-2"> · {token.scopes.join(", ")}</span>
          {expired && <span className="font-normal text-warn"> · expired</span>}
        </div>
        <div className="text-s text-text-3" title={`Made ${formatFull(token.created_at)}`}>
          {used} · {expired ? "expired" : "expires"} {formatFull(token.expires_at)}
        </div>
      </div>
      <Button look="quiet" aria-label={`Revoke ${token.name}`} onClick={onRevoke}>
        Revoke
      </Button>
    </li>
  )
}

function RevokeDialog({ token, onClose }: { token: ApiToken; onClose: () => void }) {
  const remove = useDeleteToken()
  return (
    <ConfirmDialog
      title="Revoke this token?"
      description={`Programs that use “${token.name}” will be refused from now on.`}
      confirm="Revoke"
      cancel="Keep"
      change={remove}
      onConfirm={() => remove.mutate(token.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}
