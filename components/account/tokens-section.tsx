"use client"

import { type FormEvent, useState } from "react"
import { Button } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { Field, FormError } from "@/components/ui/field"
import { Section } from "@/components/ui/page"
import { ShownOnce } from "@/components/ui/shown-once"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatFull } from "@/lib/client/format"
import { useCreateToken, useDeleteToken, useTokens } from "@/lib/client/queries/account"
import type { ApiToken } from "@/lib/contracts/people"

export function TokensSection() {
  const tokens = useTokens()
  const create = useCreateToken()
  const [revoking, setRevoking] = useState<ApiToken | null>(null)

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const element = event.currentTarget
    create.mutate({ name: String(new FormData(element).get("name")).trim() }, { onSuccess: () => element.reset() })
  }

  return (
    <Section title="API tokens" lead="For programs that act as you. A token is shown once, when it is made.">
      <form onSubmit={submit} className="flex max-w-[460px] items-end gap-2">
        <Field label="Name" name="name" required maxLength={100} placeholder="laptop script" className="flex-1" />
        <Button type="submit" look="primary" disabled={create.isPending}>
          Create token
        </Button>
      </form>
      {create.error && (
        <div className="mt-3">
          <FormError>{errorSentence(create.error)}</FormError>
        </div>
      )}
      {create.data && <ShownOnce text={create.data.token}>Copy “{create.data.name}” now; it will not be shown again.</ShownOnce>}
      <ul className="mt-4 divide-y divide-line-soft border-line-soft border-t">
        {tokens.data?.length === 0 && <li className="py-3 text-text-3">No tokens yet.</li>}
        {tokens.data?.map((token) => (
          <li key={token.id} className="flex items-center gap-3 py-1.5">
            <span className="min-w-0 flex-1 truncate font-[500]">{token.name}</span>
            <span className="text-s text-text-3">made {formatFull(token.created_at)}</span>
            <Button look="quiet" onClick={() => setRevoking(token)}>
              Revoke
            </Button>
          </li>
        ))}
      </ul>
      <RevokeDialog token={revoking} onClose={() => setRevoking(null)} />
    </Section>
  )
}

function RevokeDialog({ token, onClose }: { token: ApiToken | null; onClose: () => void }) {
  const remove = useDeleteToken()
  return (
    <Dialog
      open={token !== null}
      onOpenChange={(open) => !open && onClose()}
      title="Revoke this token?"
      description={`Programs that use “${token?.name ?? ""}” will be refused from now on.`}
    >
      <DialogActions>
        <Button onClick={onClose}>Keep</Button>
        <Button look="danger" disabled={remove.isPending} onClick={() => token && remove.mutate(token.id, { onSuccess: onClose })}>
          Revoke
        </Button>
      </DialogActions>
    </Dialog>
  )
}
