"use client"

import { type FormEvent, useState } from "react"
import { Button } from "@/components/ui/button"
import { CheckField, Field, FormError } from "@/components/ui/field"
import { Section } from "@/components/ui/page"
import { errorSentence } from "@/lib/client/error-sentence"
import { useChangePassword, useMe } from "@/lib/client/queries/account"
import { isAppError } from "@/lib/contracts/errors"
import { NewPasswordField } from "./new-password-field"

/** Not for users who sign in at a provider only: they have no password to change. */
export function PasswordSection() {
  return useMe().data?.has_password ? <PasswordForm /> : null
}

function PasswordForm() {
  const change = useChangePassword()
  const [done, setDone] = useState(false)

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const element = event.currentTarget
    const form = new FormData(element)
    setDone(false)
    change.mutate(
      {
        current_password: String(form.get("current")),
        new_password: String(form.get("new")),
        revoke_tokens: form.get("revoke") !== null,
      },
      {
        onSuccess: () => {
          element.reset()
          setDone(true)
        },
      },
    )
  }
  const wrong = isAppError(change.error) && change.error.code === "FORBIDDEN"

  return (
    <Section title="Password" lead="Changing it signs out every other browser.">
      <form method="post" onSubmit={submit} className="flex max-w-[340px] flex-col gap-3">
        <Field
          label="Current password"
          name="current"
          type="password"
          autoComplete="current-password"
          required
          error={wrong ? "This is not your current password." : null}
        />
        <NewPasswordField label="New password" name="new" />
        <CheckField name="revoke" defaultChecked label="Also revoke my API tokens" />
        {change.error && !wrong && <FormError>{errorSentence(change.error)}</FormError>}
        <div className="flex items-center gap-3">
          <Button type="submit" look="primary" disabled={change.isPending}>
            Change password
          </Button>
          <span role="status" className="text-alive">
            {done && "Password changed."}
          </span>
        </div>
      </form>
    </Section>
  )
}
