"use client"

import { Bot, SquareTerminal, X } from "lucide-react"
import { useState } from "react"
import { cn } from "@/components/ui/cn"
import { takeFocus } from "@/lib/client/hooks"
import type { WorkerView } from "@/lib/contracts/workers"
import { type TerminalSet, tabId, useTerminalView } from "./terminal-set"
import { shortName, terminalWords } from "./terminal-words"

export type WorkerTabActions = {
  onSelect: (id: string) => void
  onRename: (id: string, name: string) => void
  onClose: (worker: WorkerView) => void
  onMove: (id: string, position: number) => void
  /** The tab whose name is being changed. */
  renaming: string | null
  onRenaming: (id: string | null) => void
}

type WorkerTabProps = {
  worker: WorkerView
  place: number
  selected: boolean
  set: TerminalSet
  actions: WorkerTabActions
  onArrow: (event: React.KeyboardEvent<HTMLElement>) => void
}

/** A terminal among the views of a session. Double click or F2 renames it, Delete closes it, Alt with an arrow moves it. */
export function WorkerTab({ worker, place, selected, set, actions, onArrow }: WorkerTabProps) {
  const view = useTerminalView(set, worker.id)
  const [over, setOver] = useState(false)
  if (actions.renaming === worker.id) return <RenameField worker={worker} actions={actions} />
  const Icon = worker.type === "agent" ? Bot : SquareTerminal
  const news = view && (view.unseen || view.rang) && !selected
  const onKeyDown = (event: React.KeyboardEvent<HTMLElement>) => {
    if (event.altKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      event.preventDefault()
      return actions.onMove(worker.id, Math.max(0, place + (event.key === "ArrowLeft" ? -1 : 1)))
    }
    if (event.key === "F2") actions.onRenaming(worker.id)
    if (event.key === "Delete") actions.onClose(worker)
    onArrow(event)
  }
  return (
    <button
      type="button"
      role="tab"
      id={tabId(worker.id)}
      aria-selected={selected}
      aria-label={`${worker.name}, ${terminalWords(view)}`}
      tabIndex={selected ? 0 : -1}
      title={view?.title ?? worker.name}
      draggable
      onDragStart={(event) => event.dataTransfer.setData(DRAGGED, worker.id)}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes(DRAGGED)) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false)
        const dragged = event.dataTransfer.getData(DRAGGED)
        if (dragged && dragged !== worker.id) actions.onMove(dragged, place)
      }}
      onClick={() => actions.onSelect(worker.id)}
      onDoubleClick={() => actions.onRenaming(worker.id)}
      onAuxClick={(event) => event.button === 1 && actions.onClose(worker)}
      onKeyDown={onKeyDown}
      className={cn(
        "group/tab -mb-px flex max-w-[180px] shrink-0 items-center gap-1.5 border-b-2 pr-1 pl-[9px] phone:min-w-11 phone:justify-center phone:gap-0.5 phone:px-1",
        selected ? "border-alive font-[530] text-text" : "border-transparent text-text-3 hover:text-text",
        over && "bg-hover",
      )}
    >
      <Icon className="size-3.5 shrink-0" aria-hidden />
      <span className="truncate phone:hidden">{worker.name}</span>
      <span className="hidden phone:inline">{shortName(worker.name)}</span>
      <span
        aria-hidden
        onClick={(event) => {
          event.stopPropagation()
          actions.onClose(worker)
        }}
        className="relative grid size-[18px] shrink-0 place-items-center rounded-sm hover:bg-hover touch:size-8 phone:size-2!"
      >
        {news && (
          <span
            className={cn("absolute size-[7px] rounded-full group-hover/tab:hidden", view.rang ? "bg-need" : "bg-work")}
            data-unseen={worker.id}
          />
        )}
        <X
          className={cn(
            "size-3 opacity-0 phone:hidden group-hover/tab:opacity-100 touch:opacity-100",
            selected && "opacity-60",
            news && "touch:opacity-0",
          )}
        />
      </span>
    </button>
  )
}
const DRAGGED = "application/x-rewake-worker"

function RenameField({ worker, actions }: { worker: WorkerView; actions: WorkerTabActions }) {
  const done = (name: string) => {
    const trimmed = name.trim()
    if (trimmed !== "" && trimmed !== worker.name) actions.onRename(worker.id, trimmed)
    actions.onRenaming(null)
  }
  return (
    <input
      ref={(field) => {
        takeFocus(field)
        field?.select()
      }}
      aria-label={`Name of ${worker.name}`}
      defaultValue={worker.name}
      maxLength={80}
      onBlur={(event) => done(event.target.value)}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === "Enter") done(event.currentTarget.value)
        if (event.key === "Escape") actions.onRenaming(null)
      }}
      className="my-1 w-32 rounded-sm border border-line bg-raised px-2 outline-none"
    />
  )
}
