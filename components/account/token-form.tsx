"use client"

import { type FormEvent, useState } from "react"
import { Button } from "@/components/ui/button"
import { CheckField, Field, FormError, SelectField } from "@/components/ui/field"
import { ShownOnce } from "@/components/ui/shown-once"
import { errorSentence } from "@/lib/client/error-sentence"
import { useCreateToken, useMe } from "@/lib/client/queries/account"
import { type Scope, TOKEN_DAYS } from "@/lib/contracts/people"

const DAYS = [30, 90, 180, 365]

const scopeWords: Record<Scope, string> = {
  read: "Read: tasks, transcripts, files",
  write: "Write: send messages, start and change things",
  admin: "Admin: everything on the admin pages",
}
const SCOPES = Object.keys(scopeWords) as Scope[]

export function TokenForm() {
  const create = useCreateToken()
  const me = useMe().data
  const [noScope, setNoScope] = useState(false)
  const offered = SCOPES.filter((scope) => scope !== "admin" || me?.role === "admin")

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const element = event.currentTarget
    const form = new FormData(element)
    const scopes = offered.filter((scope) => form.get(scope) !== null)
    setNoScope(scopes.length === 0)
    if (scopes.length === 0) return
    create.mutate({ name: String(form.get("name")).trim(), scopes, days: Number(form.get("days")) }, { onSuccess: () => element.reset() })
  }
  const refusal = noScope ? "Choose at least one thing the token may do." : create.error && errorSentence(create.error)

  return (
    <>
      <form onSubmit={submit} className="flex max-w-[460px] flex-col gap-3">
        <div className="flex gap-2">
          <Field label="Name" name="name" required maxLength={100} placeholder="laptop script" className="min-w-0 flex-1" />
          <SelectField label="Valid for" name="days" defaultValue={TOKEN_DAYS} className="w-28 shrink-0">
            {DAYS.map((days) => (
              <option key={days} value={days}>
                {days} days
              </option>
            ))}
          </SelectField>
        </div>
        <fieldset className="flex flex-col gap-1">
          <legend className="mb-1 font-[530] text-s text-text-2">May do</legend>
          {offered.map((scope) => (
            <CheckField key={scope} name={scope} defaultChecked={scope !== "admin"} label={scopeWords[scope]} />
          ))}
        </fieldset>
        {refusal && <FormError>{refusal}</FormError>}
        <Button type="submit" look="primary" disabled={create.isPending} className="self-start">
          Create token
        </Button>
      </form>
      {create.data && <ShownOnce text={create.data.token}>Copy “{create.data.name}” now; it will not be shown again.</ShownOnce>}
    </>
  )
}
