"use client"

import { FormError } from "@/components/ui/field"
import { Page, Section } from "@/components/ui/page"
import { errorSentence } from "@/lib/client/error-sentence"
import { useUsers } from "@/lib/client/queries/users"
import { InviteForm } from "./invite-form"
import { OpenInvitations } from "./open-invitations"
import { StandaloneSetting } from "./standalone-setting"
import { UserRow } from "./user-row"

export function UsersPage() {
  const users = useUsers()
  return (
    <Page title="Users" lead="Who may use this server. Each user sees their own tasks only.">
      <Section title="Invite" lead="Makes a link that lets one user create their account.">
        <InviteForm />
        <OpenInvitations />
      </Section>
      <Section title="Accounts">
        {users.error && <FormError>{errorSentence(users.error)}</FormError>}
        {!users.data && !users.error && <div role="status" aria-label="Loading" className="h-24 animate-breathe rounded-md bg-line-soft" />}
        <ul aria-label="Users" className="-my-2 divide-y divide-line-soft">
          {users.data?.map((user) => (
            <UserRow key={user.id} user={user} />
          ))}
        </ul>
      </Section>
      <StandaloneSetting />
    </Page>
  )
}
