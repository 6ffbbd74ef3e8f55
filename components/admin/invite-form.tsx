"use client"

import type { FormEvent } from "react"
import { Button } from "@/components/ui/button"
import { CopyButton } from "@/components/ui/copy-button"
import { Field, FormError, inputClass } from "@/components/ui/field"
import { errorSentence } from "@/lib/client/error-sentence"
import { useInvite } from "@/lib/client/queries/people"

export function InviteForm() {
  const invite = useInvite()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    invite.mutate({ email: String(form.get("email")).trim(), role: form.get("role") === "admin" ? "admin" : "user" })
  }
  return (
    <>
      <form onSubmit={submit} className="flex flex-wrap items-end gap-2">
        <Field label="Email" name="email" type="email" required className="min-w-56 flex-1" />
        <div className="w-32">
          <label htmlFor="invite-role" className="mb-1 block font-[530] text-s text-text-2">
            Role
          </label>
          <select id="invite-role" name="role" defaultValue="user" className={inputClass}>
            <option value="user">User</option>
            <option value="admin">Admin</option>
          </select>
        </div>
        <Button type="submit" look="primary" disabled={invite.isPending}>
          Create link
        </Button>
      </form>
      {invite.error && (
        <div className="mt-3">
          <FormError>{errorSentence(invite.error)}</FormError>
        </div>
      )}
      {invite.data && (
        <div role="status" className="mt-3 rounded-md border border-line bg-alive-soft p-3">
          <p className="mb-1.5">Send this link to {invite.variables?.email}. It works once.</p>
          <div className="flex items-center gap-2 rounded-sm border border-line-soft bg-bg px-2.5 py-1.5">
            <code className="min-w-0 flex-1 break-all font-mono text-s">{invite.data.link}</code>
            <CopyButton text={invite.data.link} />
          </div>
        </div>
      )}
    </>
  )
}
