"use client"

import { Archive, LogOut, MonitorDot, RotateCcw, ScrollText, Settings, Users } from "lucide-react"
import { useRouter } from "next/navigation"
import { THEME_CHOICES, useThemeChoice } from "@/components/account/theme-section"
import { IconButton } from "@/components/ui/button"
import { MenuContent, MenuItem, MenuLabel, MenuRadioGroup, MenuRadioItem, MenuRoot, MenuSeparator, MenuTrigger } from "@/components/ui/menu"
import { useMe } from "@/lib/client/queries/account"
import { chooseTheme, type ThemeChoice } from "@/lib/client/theme"
import { leave } from "./leave"

export function UserMenu() {
  const router = useRouter()
  const me = useMe().data
  const theme = useThemeChoice()
  const name = me?.name || me?.email || ""
  return (
    <MenuRoot>
      <MenuTrigger asChild>
        <IconButton
          label="Account"
          className="ml-auto rounded-full! border border-line bg-raised font-[600] text-text-2 text-xs uppercase touch:size-9"
        >
          {name.slice(0, 1)}
        </IconButton>
      </MenuTrigger>
      <MenuContent align="end" className="w-52">
        <MenuLabel>{me?.email}</MenuLabel>
        <MenuItem onSelect={() => router.push("/settings")}>
          <Settings /> Settings
        </MenuItem>
        {me?.role === "admin" && (
          <>
            <MenuSeparator />
            <MenuLabel>Admin</MenuLabel>
            <MenuItem onSelect={() => router.push("/admin/sessions")}>
              <MonitorDot /> Sessions
            </MenuItem>
            <MenuItem onSelect={() => router.push("/admin/recoveries")}>
              <RotateCcw /> Recoveries
            </MenuItem>
            <MenuItem onSelect={() => router.push("/admin/archives")}>
              <Archive /> Archives
            </MenuItem>
            <MenuItem onSelect={() => router.push("/admin/users")}>
              <Users /> Users
            </MenuItem>
            <MenuItem onSelect={() => router.push("/admin/audit")}>
              <ScrollText /> Security log
            </MenuItem>
          </>
        )}
        <MenuSeparator />
        <MenuLabel>Theme</MenuLabel>
        <MenuRadioGroup value={theme} onValueChange={(choice) => chooseTheme(choice as ThemeChoice)}>
          {THEME_CHOICES.map(({ id, label }) => (
            <MenuRadioItem key={id} value={id}>
              {label}
            </MenuRadioItem>
          ))}
        </MenuRadioGroup>
        <MenuSeparator />
        <MenuItem onSelect={() => void leave()}>
          <LogOut /> Sign out
        </MenuItem>
      </MenuContent>
    </MenuRoot>
  )
}
