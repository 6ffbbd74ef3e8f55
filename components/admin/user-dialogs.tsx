"use client"

import { Button } from "@/components/ui/button"
import { ConfirmDialog } from "@/components/ui/confirm-dialog"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { ShownOnce } from "@/components/ui/shown-once"
import { plural } from "@/lib/client/format"
import { useCreatePasswordReset, usePatchUser, useSignUserOut } from "@/lib/client/queries/users"
import type { UserView } from "@/lib/contracts/people"

export type UserAct = "make_admin" | "make_user" | "disable" | "enable" | "reset_password" | "sign_out"
type Change = Exclude<UserAct, "reset_password" | "sign_out">

type UserDialogProps = { act: UserAct; user: UserView; name: string; onClose: () => void }

export function UserDialog({ act, ...props }: UserDialogProps) {
  if (act === "reset_password") return <ResetDialog {...props} />
  if (act === "sign_out") return <SignOutDialog {...props} />
  return <ChangeDialog change={act} {...props} />
}

/** What losing the role or the account takes away. */
const REVOKED = ["The API tokens and open invitations they made are revoked.", "Their transcripts stay."]

type Words = { title: string; description: string; consequences: string[]; confirm: string; look: "primary" | "danger" }
const changeWords: Record<Change, (name: string) => Words> = {
  make_admin: (name) => ({
    title: `Make ${name} an admin?`,
    description: "An admin can do everything on this server.",
    consequences: [
      "They see the sessions of all users, and can stop and resume their agents.",
      "They manage users, agents and settings, and read the security log.",
      "They may run agents and terminals with the rights of the server's account.",
    ],
    confirm: "Make admin",
    look: "primary",
  }),
  make_user: (name) => ({
    title: `Make ${name} a user?`,
    description: "They keep their account and their own tasks, and are no longer an admin.",
    consequences: [
      "Their connections are closed; open pages connect again as a user.",
      "Running agents and terminals that a user may not run are stopped.",
      "Their queued messages are held.",
      ...REVOKED,
    ],
    confirm: "Make user",
    look: "danger",
  }),
  disable: (name) => ({
    title: `Disable ${name}?`,
    description: "They can no longer sign in. You can enable the account again.",
    consequences: [
      "Their connections are closed, and every browser is signed out.",
      "Their running agents and terminals are stopped.",
      "Their queued messages are held.",
      ...REVOKED,
    ],
    confirm: "Disable",
    look: "danger",
  }),
  enable: (name) => ({
    title: `Enable ${name}?`,
    description: "They can sign in again and find their tasks as they were.",
    consequences: [
      "Nothing is started by this: stopped agents stay stopped, and held messages wait to be released.",
      "API tokens and invitations that were revoked stay revoked.",
    ],
    confirm: "Enable",
    look: "primary",
  }),
}

const bodies: Record<Change, { role: "admin" | "user" } | { disabled: boolean }> = {
  make_admin: { role: "admin" },
  make_user: { role: "user" },
  disable: { disabled: true },
  enable: { disabled: false },
}

function ChangeDialog({ change, user, name, onClose }: Omit<UserDialogProps, "act"> & { change: Change }) {
  const patch = usePatchUser()
  return (
    <ConfirmDialog
      {...changeWords[change](name)}
      change={patch}
      onConfirm={() => patch.mutate({ id: user.id, ...bodies[change] }, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}

function SignOutDialog({ user, name, onClose }: Omit<UserDialogProps, "act">) {
  const signOut = useSignUserOut()
  return (
    <ConfirmDialog
      title={`Sign ${name} out everywhere?`}
      description={`${plural(user.sign_ins, "browser")} will be signed out at once. Running agents go on, and API tokens keep working.`}
      confirm="Sign out"
      change={signOut}
      onConfirm={() => signOut.mutate(user.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}

function ResetDialog({ user, name, onClose }: Omit<UserDialogProps, "act">) {
  const reset = useCreatePasswordReset()
  if (reset.data)
    return (
      <Dialog open onOpenChange={(open) => !open && onClose()} title="Password reset link">
        <ShownOnce text={reset.data.link}>
          Send this link to {name}. It works once, is valid for 24 hours, and is not shown again.
        </ShownOnce>
        <DialogActions>
          <Button onClick={onClose}>Close</Button>
        </DialogActions>
      </Dialog>
    )
  return (
    <ConfirmDialog
      title={`Reset the password of ${name}?`}
      description={
        user.has_password
          ? "This makes a link with which they choose a new password. Their current password works until the link is used."
          : "They sign in at the provider only. This makes a link with which they can set a password as well."
      }
      confirm="Create link"
      look="primary"
      change={reset}
      onConfirm={() => reset.mutate(user.id)}
      onClose={onClose}
    />
  )
}
