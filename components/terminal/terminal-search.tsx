"use client"

import { ArrowDown, ArrowUp, X } from "lucide-react"
import { useState } from "react"
import { IconButton } from "@/components/ui/button"
import { takeFocus } from "@/lib/client/hooks"
import type { LiveTerminal } from "./live-terminal"

export function TerminalSearch({ terminal }: { terminal: LiveTerminal }) {
  const [text, setText] = useState("")
  const [found, setFound] = useState(true)
  const find = (towards: "older" | "newer", what = text) => setFound(what === "" || terminal.find(what, towards))
  return (
    <search className="absolute top-2 right-4 z-20 flex items-center gap-0.5 rounded-md border border-line bg-raised p-1 shadow-pop">
      <input
        ref={takeFocus}
        aria-label="Search this terminal"
        aria-invalid={!found}
        placeholder="Search"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          find("older", event.target.value)
        }}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.key === "Escape") terminal.toggleSearch(false)
          if (event.key === "Enter") find(event.shiftKey ? "newer" : "older")
        }}
        className="w-44 rounded-sm bg-transparent px-2 py-0.5 outline-none aria-invalid:text-bad"
      />
      <span role="status" className="sr-only">
        {found ? "" : "Not found"}
      </span>
      <IconButton label="Older match" className="size-6" onClick={() => find("older")}>
        <ArrowUp className="size-3.5" />
      </IconButton>
      <IconButton label="Newer match" className="size-6" onClick={() => find("newer")}>
        <ArrowDown className="size-3.5" />
      </IconButton>
      <IconButton label="Close search" className="size-6" onClick={() => terminal.toggleSearch(false)}>
        <X className="size-3.5" />
      </IconButton>
    </search>
  )
}
