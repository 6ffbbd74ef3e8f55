"use client"

import { useSearchParams } from "next/navigation"
import { type FormEvent, useState } from "react"
import { Button } from "@/components/ui/button"
import { Field, FormError } from "@/components/ui/field"
import { call } from "@/lib/client/api"
import { errorSentence } from "@/lib/client/error-sentence"
import { focusOnMount, useHydrated } from "@/lib/client/hooks"
import { isAppError } from "@/lib/contracts/errors"
import { AuthShell } from "./auth-shell"
import { NewPasswordField } from "./new-password-field"
import { ProviderButton } from "./provider-button"
import { NO_CODE, signInWithPassword } from "./sign-in"

type JoinProps = { kind: "setup" | "invite" }

const words = {
  setup: {
    title: "Set up Rewake",
    lead: "Create the first account. It is an admin, and can invite others.",
    button: "Create account",
    spent: "This link was already used, or the server was started again since. Look in the server's output for the newest one.",
  },
  invite: {
    title: "Join Rewake",
    lead: "You were invited to this server. Choose a password to begin.",
    button: "Join",
    spent: "This invitation was already used or has expired. Ask for a new one.",
  },
} as const

async function join(kind: JoinProps["kind"], code: string, form: FormData): Promise<{ email: string; password: string }> {
  const name = String(form.get("name") ?? "").trim()
  const password = String(form.get("password"))
  const account = { code, name, password }
  if (kind === "invite") return { email: (await call("POST /api/v1/invitations/accept", { body: account })).email, password }
  const email = String(form.get("email")).trim()
  return { email: (await call("POST /api/v1/setup", { body: { ...account, email } })).email, password }
}

const isSpent = (error: unknown) => isAppError(error) && ["FORBIDDEN", "NOT_FOUND", "CONFLICT", "UNAUTHENTICATED"].includes(error.code)

export function JoinForm({ kind }: JoinProps) {
  const hydrated = useHydrated()
  const code = useSearchParams().get("code") ?? ""
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const text = words[kind]

  const refuse = (failure: unknown) => setError(isSpent(failure) ? text.spent : errorSentence(failure))
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setBusy(true)
    setError(null)
    try {
      const account = await join(kind, code, form)
      const result = await signInWithPassword(account.email, account.password)
      location.assign(result === "ok" ? "/tasks" : "/login")
    } catch (failure) {
      setBusy(false)
      refuse(failure)
    }
  }

  return (
    <AuthShell title={text.title} lead={text.lead} onSubmit={submit}>
      {kind === "setup" && <Field label="Email" name="email" type="email" autoComplete="username" required ref={focusOnMount} />}
      <Field label="Name (optional)" name="name" autoComplete="name" ref={kind === "invite" ? focusOnMount : null} maxLength={100} />
      <NewPasswordField label="Password" name="password" />
      <FormError>{code === "" ? NO_CODE : error}</FormError>
      <Button type="submit" look="primary" disabled={!hydrated || busy || code === ""} className="mt-1 py-[7px]">
        {busy ? "One moment…" : text.button}
      </Button>
      {kind === "invite" && (
        <ProviderButton
          verb="Join"
          callbackUrl="/tasks"
          disabled={busy || code === ""}
          prepare={() => call("POST /api/v1/invitations/connect", { body: { code } })}
          onError={refuse}
        />
      )}
    </AuthShell>
  )
}
