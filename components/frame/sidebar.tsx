"use client"

import { Ellipsis, Eye, EyeOff, FileInput, Search, X } from "lucide-react"
import Link from "next/link"
import { useDeferredValue, useState } from "react"
import { NotifyToggle } from "@/components/frame/notify-toggle"
import { TaskList } from "@/components/task/task-list"
import { buttonClass, IconButton } from "@/components/ui/button"
import { Kbd } from "@/components/ui/kbd"
import { Logo } from "@/components/ui/logo"
import { MenuContent, MenuItem, MenuRoot, MenuTrigger } from "@/components/ui/menu"
import { ConnectionState } from "./connection-state"
import { UserMenu } from "./user-menu"

export const SEARCH_ID = "task-search"

export function Sidebar({ onShowKeys, onImport }: { onShowKeys: () => void; onImport: () => void }) {
  const [q, setQ] = useState("")
  const [hidden, setHidden] = useState(false)
  const filter = { q: useDeferredValue(q.trim()), hidden }
  return (
    <>
      <div className="flex items-center gap-2 px-3.5 pt-[11px] pb-[9px] font-[620] text-l">
        <Logo className="size-[18px] text-alive" />
        Rewake
        <UserMenu />
      </div>
      <div className="mx-2.5 mb-2 flex gap-1.5">
        <label className="flex min-w-0 flex-1 items-center gap-[7px] rounded-sm border border-line bg-bg px-2 text-text-3 focus-within:border-alive">
          <Search className="size-3.5 shrink-0" />
          <input
            id={SEARCH_ID}
            type="search"
            aria-label="Search tasks"
            placeholder="Search"
            value={q}
            onChange={(event) => setQ(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Escape") return
              setQ("")
              event.currentTarget.blur()
            }}
            className="min-w-0 flex-1 bg-transparent py-[4.5px] text-text outline-none touch:min-h-11 [&::-webkit-search-cancel-button]:hidden"
          />
          {q === "" ? (
            <Kbd>Ctrl K</Kbd>
          ) : (
            <button type="button" aria-label="Clear search" onClick={() => setQ("")} className="touch:p-3">
              <X className="size-3.5" />
            </button>
          )}
        </label>
        <Link href="/tasks/new" className={buttonClass("primary")}>
          New
        </Link>
      </div>
      {hidden && (
        <div className="mx-2.5 mb-1 flex items-center gap-2 rounded-sm bg-hover px-2 py-1 text-s text-text-2">
          <EyeOff className="size-3.5" /> Hidden tasks
          <button type="button" className="ml-auto text-text hover:underline touch:min-h-11" onClick={() => setHidden(false)}>
            Back
          </button>
        </div>
      )}
      <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain pb-3">
        <TaskList filter={filter} />
      </div>
      <div className="flex items-center gap-0.5 border-line-soft border-t py-[5px] pr-2 pl-3.5 text-s text-text-3">
        <ConnectionState />
        <span className="ml-auto" />
        <NotifyToggle />
        <MenuRoot>
          <MenuTrigger asChild>
            <IconButton label="List options">
              <Ellipsis className="size-4" />
            </IconButton>
          </MenuTrigger>
          <MenuContent align="end" side="top">
            <MenuItem onSelect={onImport}>
              <FileInput /> Import session…
            </MenuItem>
            <MenuItem onSelect={() => setHidden(!hidden)}>
              {hidden ? <Eye /> : <EyeOff />} {hidden ? "Back to all tasks" : "Hidden tasks"}
            </MenuItem>
          </MenuContent>
        </MenuRoot>
        <button type="button" onClick={onShowKeys} className="rounded-sm px-1.5 py-1 hover:bg-hover hover:text-text touch:hidden">
          ? keys
        </button>
      </div>
    </>
  )
}
