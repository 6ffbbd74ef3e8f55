"use client"

import { useSearchParams } from "next/navigation"
import { type FormEvent, useState } from "react"
import { Button } from "@/components/ui/button"
import { FormError } from "@/components/ui/field"
import { call } from "@/lib/client/api"
import { errorSentence } from "@/lib/client/error-sentence"
import { focusOnMount, useHydrated } from "@/lib/client/hooks"
import { isAppError } from "@/lib/contracts/errors"
import { AuthShell } from "./auth-shell"
import { NewPasswordField } from "./new-password-field"
import { NO_CODE, signInWithPassword } from "./sign-in"

const SPENT = "This link was already used or has expired. Ask an admin for a new one."

/** Opened by the link an admin made; sets the password and signs in with it. */
export function ResetForm() {
  const hydrated = useHydrated()
  const code = useSearchParams().get("code") ?? ""
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const password = String(new FormData(event.currentTarget).get("password"))
    setBusy(true)
    setError(null)
    try {
      const { email } = await call("POST /api/v1/password-reset", { body: { code, password } })
      const result = await signInWithPassword(email, password)
      location.assign(result === "ok" ? "/tasks" : "/login")
    } catch (failure) {
      setBusy(false)
      setError(isAppError(failure) && failure.code === "NOT_FOUND" ? SPENT : errorSentence(failure))
    }
  }

  return (
    <AuthShell title="Choose a new password" lead="It replaces the old one at once." onSubmit={submit}>
      <NewPasswordField label="New password" name="password" ref={focusOnMount} />
      <FormError>{code === "" ? NO_CODE : error}</FormError>
      <Button type="submit" look="primary" disabled={!hydrated || busy || code === ""} className="mt-1 py-[7px]">
        {busy ? "One moment…" : "Set password and sign in"}
      </Button>
    </AuthShell>
  )
}
