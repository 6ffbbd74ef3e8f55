"use client"

import { Button } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { FormError } from "@/components/ui/field"
import { Page, Section } from "@/components/ui/page"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatFull } from "@/lib/client/format"
import { useMe } from "@/lib/client/queries/account"
import { usePatchPerson, usePeople } from "@/lib/client/queries/people"
import type { UserView } from "@/lib/contracts/people"
import { InviteForm } from "./invite-form"

export function PeoplePage() {
  const people = usePeople()
  return (
    <Page title="People" lead="Who may use this server. Each person sees their own tasks only.">
      <Section title="Invite" lead="Makes a link that lets one person create their account.">
        <InviteForm />
      </Section>
      <Section title="Accounts">
        {people.error && <FormError>{errorSentence(people.error)}</FormError>}
        <ul className="-my-2 divide-y divide-line-soft">
          {people.data?.map((person) => (
            <PersonRow key={person.id} person={person} />
          ))}
        </ul>
      </Section>
    </Page>
  )
}

function PersonRow({ person }: { person: UserView }) {
  const me = useMe().data
  const patch = usePatchPerson()
  const self = me?.id === person.id
  const disabled = person.disabled_at !== null
  return (
    <li className="py-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <div className={cn("min-w-0 flex-1 basis-52", disabled && "opacity-60")}>
          <div className="truncate font-[530]">
            {person.name || person.email}
            {self && <span className="font-normal text-text-3"> · you</span>}
          </div>
          <div className="truncate text-s text-text-3">
            {person.email} · since {formatFull(person.created_at)}
          </div>
        </div>
        <span className="rounded-[4px] border border-line px-1.5 text-text-2 text-xs">{disabled ? "disabled" : person.role}</span>
        {!self && (
          <div className="flex gap-1">
            <Button
              look="quiet"
              disabled={patch.isPending || disabled}
              onClick={() => patch.mutate({ id: person.id, role: person.role === "admin" ? "user" : "admin" })}
            >
              {person.role === "admin" ? "Make user" : "Make admin"}
            </Button>
            <Button look="quiet" disabled={patch.isPending} onClick={() => patch.mutate({ id: person.id, disabled: !disabled })}>
              {disabled ? "Enable" : "Disable"}
            </Button>
          </div>
        )}
      </div>
      {patch.error && <FormError>{errorSentence(patch.error)}</FormError>}
    </li>
  )
}
