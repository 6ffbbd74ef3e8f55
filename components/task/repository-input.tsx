"use client"

import { FolderGit2 } from "lucide-react"
import { useDeferredValue, useId, useState } from "react"
import { cn } from "@/components/ui/cn"
import { inputClass } from "@/components/ui/field"
import { useWorkspaces } from "@/lib/client/queries/workspaces"

type RepositoryInputProps = { value: string; onChange: (path: string) => void; error: string | null }

/** A path or address typed freely, with the repositories this server knows of below it. */
export function RepositoryInput({ value, onChange, error }: RepositoryInputProps) {
  const id = useId()
  const [open, setOpen] = useState(false)
  const [active, setActive] = useState(0)
  const { data } = useWorkspaces(useDeferredValue(value), open)
  const items = open ? (data?.items ?? []).slice(0, 8) : []
  const choose = (path: string) => {
    onChange(path)
    setOpen(false)
  }
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (items.length === 0) return
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault()
      setActive((at) => (at + (event.key === "ArrowDown" ? 1 : items.length - 1)) % items.length)
    } else if (event.key === "Enter" && items[active]) {
      event.preventDefault()
      choose(items[active].path)
    } else if (event.key === "Escape") {
      event.stopPropagation()
      setOpen(false)
    }
  }
  return (
    <div className="relative">
      <label htmlFor={id} className="mb-1 block font-[530] text-s text-text-2">
        Repository
      </label>
      <input
        id={id}
        role="combobox"
        aria-expanded={items.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={items[active] ? `${id}-${active}` : undefined}
        aria-invalid={error ? true : undefined}
        aria-describedby={`${id}-note`}
        autoComplete="off"
        spellCheck={false}
        value={value}
        placeholder={data?.roots[0] ? `${data.roots[0]}/…  or a git address` : "/path/to/repository  or a git address"}
        onChange={(event) => {
          onChange(event.target.value)
          setActive(0)
          setOpen(true)
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
        className={cn(inputClass, "font-mono text-s", error && "border-bad")}
      />
      {items.length > 0 && (
        <div
          id={`${id}-list`}
          role="listbox"
          tabIndex={-1}
          aria-label="Repositories"
          className="absolute inset-x-0 top-full z-20 mt-1 rounded-md border border-line bg-raised p-1 shadow-pop"
        >
          {items.map((item, at) => (
            <button
              type="button"
              key={item.path}
              id={`${id}-${at}`}
              role="option"
              tabIndex={-1}
              aria-selected={at === active}
              // The field must keep its focus, or the list would close before the click arrives.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => choose(item.path)}
              onPointerMove={() => setActive(at)}
              className={cn(
                "flex w-full items-center gap-2 rounded-sm px-2 py-[5px] text-left touch:min-h-11",
                at === active && "bg-hover",
              )}
            >
              <FolderGit2 className="size-3.5 shrink-0 text-text-3" />
              <span className="font-[530]">{item.name}</span>
              <span className="truncate font-mono text-text-3 text-xs">{item.path}</span>
            </button>
          ))}
        </div>
      )}
      <p id={`${id}-note`} className={cn("mt-1 text-s", error ? "text-bad" : "text-text-3")}>
        {error ?? "The agent works in a worktree of its own, on a new branch."}
      </p>
    </div>
  )
}
