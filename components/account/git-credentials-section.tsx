"use client"

import { type FormEvent, useState } from "react"
import { Button } from "@/components/ui/button"
import { ConfirmDialog } from "@/components/ui/confirm-dialog"
import { Field, FormError } from "@/components/ui/field"
import { Section } from "@/components/ui/page"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatFull } from "@/lib/client/format"
import { useGitCredentials, useRemoveGitCredential, useSaveGitCredential } from "@/lib/client/queries/account"
import type { GitCredentialView } from "@/lib/contracts/people"

export function GitCredentialsSection() {
  const credentials = useGitCredentials()
  const [removing, setRemoving] = useState<GitCredentialView | null>(null)
  return (
    <Section
      title="Git credentials"
      lead="Used when Rewake clones or fetches a repository from this host. Stored encrypted; never shown again."
    >
      {credentials.error && <FormError>{errorSentence(credentials.error)}</FormError>}
      {credentials.data && credentials.data.length > 0 && (
        <ul aria-label="Git credentials" className="-mt-2 mb-4 divide-y divide-line-soft border-line-soft border-b">
          {credentials.data.map((credential) => (
            <li key={credential.host} className="flex items-center gap-3 py-2">
              <div className="min-w-0 flex-1">
                <div className="truncate font-mono text-s">{credential.host}</div>
                <div className="truncate text-s text-text-3">
                  {credential.username} · saved {formatFull(credential.updated_at)}
                </div>
              </div>
              <Button look="quiet" aria-label={`Remove the credential for ${credential.host}`} onClick={() => setRemoving(credential)}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <CredentialForm />
      {removing && <RemoveDialog credential={removing} onClose={() => setRemoving(null)} />}
    </Section>
  )
}

function CredentialForm() {
  const save = useSaveGitCredential()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const element = event.currentTarget
    const form = new FormData(element)
    save.mutate(
      { host: String(form.get("host")).trim(), username: String(form.get("username")).trim(), secret: String(form.get("secret")) },
      { onSuccess: () => element.reset() },
    )
  }
  return (
    <form method="post" onSubmit={submit} className="flex max-w-[460px] flex-col gap-3">
      <Field
        label="Host"
        name="host"
        required
        maxLength={260}
        placeholder="git.example.com"
        autoComplete="off"
        spellCheck={false}
        hint="Saving a host again replaces its credential."
      />
      <div className="flex flex-wrap gap-2">
        <Field label="User name" name="username" required maxLength={255} autoComplete="off" className="min-w-44 flex-1" />
        <Field
          label="Token or password"
          name="secret"
          type="password"
          required
          maxLength={4096}
          autoComplete="off"
          className="min-w-44 flex-1"
        />
      </div>
      {save.error && <FormError>{errorSentence(save.error)}</FormError>}
      <Button type="submit" look="primary" disabled={save.isPending} className="self-start">
        Save
      </Button>
    </form>
  )
}

function RemoveDialog({ credential, onClose }: { credential: GitCredentialView; onClose: () => void }) {
  const remove = useRemoveGitCredential()
  return (
    <ConfirmDialog
      title="Remove this credential?"
      description={`Repositories at ${credential.host} that are not public can no longer be cloned or fetched for you.`}
      confirm="Remove"
      change={remove}
      onConfirm={() => remove.mutate(credential.host, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}
