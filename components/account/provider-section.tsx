"use client"

import { type FormEvent, useState } from "react"
import { Button } from "@/components/ui/button"
import { ConfirmDialog } from "@/components/ui/confirm-dialog"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { Field, FormError } from "@/components/ui/field"
import { Section } from "@/components/ui/page"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatFull } from "@/lib/client/format"
import { takeFocus } from "@/lib/client/hooks"
import { useConnectIdentity, useIdentities, useMe, useProviderHost, useRemoveIdentity } from "@/lib/client/queries/account"
import type { IdentityView } from "@/lib/contracts/people"
import { signInWithProvider } from "./sign-in"

/** Only where the server has a provider. */
export function ProviderSection() {
  const host = useProviderHost()
  return host ? <Identities host={host} /> : null
}

function Identities({ host }: { host: string }) {
  const identities = useIdentities()
  const me = useMe().data
  const connect = useConnectIdentity()
  const [asking, setAsking] = useState(false)
  const [removing, setRemoving] = useState<IdentityView | null>(null)
  const onlyWay = me?.has_password === false && identities.data?.length === 1
  const failure = identities.error ?? (asking ? null : connect.error)
  const connectWith = (password: string) => connect.mutate(password, { onSuccess: () => void signInWithProvider("/settings") })
  return (
    <Section title="Sign-in provider" lead={`Sign in with your account at ${host} instead of a password.`}>
      {failure && (
        <div className="mb-3">
          <FormError>{errorSentence(failure)}</FormError>
        </div>
      )}
      {identities.data && identities.data.length > 0 && (
        <ul aria-label="Connected accounts" className="-mt-2 mb-3 divide-y divide-line-soft border-line-soft border-b">
          {identities.data.map((identity) => (
            <li key={identity.id} className="flex items-center gap-3 py-2">
              <div className="min-w-0 flex-1">
                <div className="truncate font-[500]">{identity.email ?? "Account without an address"}</div>
                <div className="truncate text-s text-text-3">
                  {identity.issuer} · connected {formatFull(identity.created_at)}
                </div>
              </div>
              {onlyWay ? (
                <span className="text-s text-text-3">Your only way to sign in</span>
              ) : (
                <Button look="quiet" onClick={() => setRemoving(identity)}>
                  Disconnect
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      <Button disabled={connect.isPending || !me} onClick={() => (me?.has_password ? setAsking(true) : connectWith(""))}>
        {identities.data?.length ? "Connect another account" : `Connect ${host}`}
      </Button>
      {asking && <ConnectDialog host={host} connect={connect} onConnect={connectWith} onClose={() => setAsking(false)} />}
      {removing && <RemoveDialog identity={removing} onClose={() => setRemoving(null)} />}
    </Section>
  )
}

type ConnectDialogProps = {
  host: string
  connect: ReturnType<typeof useConnectIdentity>
  onConnect: (password: string) => void
  onClose: () => void
}

/** The password again: whoever finds this browser open must not be able to connect an account of their own. */
function ConnectDialog({ host, connect, onConnect, onClose }: ConnectDialogProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    onConnect(String(new FormData(event.currentTarget).get("password")))
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Connect ${host}?`}
      description="You sign in there next. That account can then sign in here as you."
    >
      <form method="post" onSubmit={submit} className="mt-3 flex flex-col gap-3">
        <Field label="Your password here" name="password" type="password" autoComplete="current-password" required ref={takeFocus} />
        {connect.error && <FormError>{errorSentence(connect.error)}</FormError>}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={connect.isPending || connect.isSuccess}>
            Connect
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

function RemoveDialog({ identity, onClose }: { identity: IdentityView; onClose: () => void }) {
  const remove = useRemoveIdentity()
  return (
    <ConfirmDialog
      title="Disconnect this account?"
      description={`${identity.email ?? "This account"} can no longer be used to sign in here. You can connect it again.`}
      confirm="Disconnect"
      change={remove}
      onConfirm={() => remove.mutate(identity.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}
