"use client"

import { useSearchParams } from "next/navigation"
import { type FormEvent, useState } from "react"
import { Button } from "@/components/ui/button"
import { Field, FormError } from "@/components/ui/field"
import { focusOnMount, useHydrated } from "@/lib/client/hooks"
import { safeNext } from "@/lib/client/safe-next"
import { AuthShell } from "./auth-shell"
import { ProviderButton } from "./provider-button"
import { providerErrorSentence, signInSentence, signInWithPassword } from "./sign-in"

export function LoginForm() {
  const hydrated = useHydrated()
  const search = useSearchParams()
  const next = safeNext(search.get("next"))
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(() => providerErrorSentence(search.get("error")))

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setBusy(true)
    setError(null)
    const result = await signInWithPassword(String(form.get("email")).trim(), String(form.get("password")))
    if (result === "ok") {
      location.assign(next)
      return
    }
    setBusy(false)
    setError(signInSentence[result])
  }

  return (
    <AuthShell title="Sign in" onSubmit={submit}>
      <Field label="Email" name="email" type="email" autoComplete="username" required ref={focusOnMount} />
      <Field label="Password" name="password" type="password" autoComplete="current-password" required />
      <FormError>{error}</FormError>
      <Button type="submit" look="primary" disabled={!hydrated || busy} className="mt-1 py-[7px]">
        {busy ? "Signing in…" : "Sign in"}
      </Button>
      <ProviderButton verb="Sign in" callbackUrl={next} onError={() => setError(signInSentence.unreachable)} />
      <p className="text-s text-text-3">No account? Ask an admin of this server for an invitation.</p>
    </AuthShell>
  )
}
