"use client"

import { Ban, CircleCheck, KeyRound, LogOut, MoreHorizontal, ShieldCheck, ShieldOff } from "lucide-react"
import { useState } from "react"
import { IconButton } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { MenuContent, MenuItem, MenuRoot, MenuSeparator, MenuTrigger } from "@/components/ui/menu"
import { formatFull, formatSeen, plural } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import { useMe } from "@/lib/client/queries/account"
import type { UserView } from "@/lib/contracts/people"
import { Tag } from "./session-words"
import { type UserAct, UserDialog } from "./user-dialogs"

export function UserRow({ user }: { user: UserView }) {
  const me = useMe().data
  const [act, setAct] = useState<UserAct | null>(null)
  const disabled = user.disabled_at !== null
  const name = user.name || user.email
  return (
    <li className="flex items-center gap-3 py-2">
      <div className={cn("flex min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-0.5", disabled && "text-text-3")}>
        <div className="min-w-0 flex-1 basis-56">
          <div className="truncate font-[530]">
            {name}
            {me?.id === user.id && <span className="font-normal text-text-3"> · you</span>}
          </div>
          {name !== user.email && <div className="truncate text-s text-text-3">{user.email}</div>}
        </div>
        <div className="text-s text-text-3 @2xl:w-56">
          <Seen user={user} />
        </div>
      </div>
      <div className="flex shrink-0 flex-col items-end gap-1 @2xl:w-40 @2xl:flex-row-reverse">
        <Tag>{user.role}</Tag>
        {!user.has_password && <Tag title="Has no password here: signs in at the provider">provider only</Tag>}
        {user.disabled_at && <Tag title={`Disabled ${formatFull(user.disabled_at)}`}>disabled</Tag>}
      </div>
      {me?.id === user.id ? <span className="size-7 shrink-0 touch:size-11" /> : <UserMenu user={user} name={name} onAct={setAct} />}
      {act && <UserDialog act={act} user={user} name={name} onClose={() => setAct(null)} />}
    </li>
  )
}

function Seen({ user }: { user: UserView }) {
  const now = useNow(30_000)
  const seen = user.last_seen_at === null ? "never seen" : `seen ${now > 0 ? formatSeen(user.last_seen_at, now) : ""}`
  const browsers = user.sign_ins === 0 ? "no browser signed in" : `${plural(user.sign_ins, "browser")} signed in`
  return (
    <span title={`Account since ${formatFull(user.created_at)}`}>
      {seen} · {browsers}
    </span>
  )
}

function UserMenu({ user, name, onAct }: { user: UserView; name: string; onAct: (act: UserAct) => void }) {
  const disabled = user.disabled_at !== null
  return (
    <MenuRoot>
      <MenuTrigger asChild>
        <IconButton label={`Actions for ${name}`}>
          <MoreHorizontal className="size-4" />
        </IconButton>
      </MenuTrigger>
      <MenuContent align="end">
        {disabled ? (
          <MenuItem onSelect={() => onAct("enable")}>
            <CircleCheck /> Enable…
          </MenuItem>
        ) : (
          <>
            {user.role === "admin" ? (
              <MenuItem onSelect={() => onAct("make_user")}>
                <ShieldOff /> Make user…
              </MenuItem>
            ) : (
              <MenuItem onSelect={() => onAct("make_admin")}>
                <ShieldCheck /> Make admin…
              </MenuItem>
            )}
            <MenuItem onSelect={() => onAct("reset_password")}>
              <KeyRound /> Reset password…
            </MenuItem>
            <MenuItem disabled={user.sign_ins === 0} onSelect={() => onAct("sign_out")}>
              <LogOut /> Sign out everywhere…
            </MenuItem>
            <MenuSeparator />
            <MenuItem danger onSelect={() => onAct("disable")}>
              <Ban /> Disable…
            </MenuItem>
          </>
        )}
      </MenuContent>
    </MenuRoot>
  )
}
