"use client"

import type { FormEvent } from "react"
import { Button } from "@/components/ui/button"
import { Field, FormError, SelectField } from "@/components/ui/field"
import { ShownOnce } from "@/components/ui/shown-once"
import { errorSentence } from "@/lib/client/error-sentence"
import { useInvite } from "@/lib/client/queries/users"

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
        <SelectField label="Role" name="role" defaultValue="user" className="w-32">
          <option value="user">User</option>
          <option value="admin">Admin</option>
        </SelectField>
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
        <ShownOnce text={invite.data.link}>Send this link to {invite.variables?.email}. It works once and is not shown again.</ShownOnce>
      )}
    </>
  )
}
