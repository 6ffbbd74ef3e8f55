import { Columns2, Ellipsis, GitFork, History, RotateCcw, Search, X } from "lucide-react"
import { IconButton } from "@/components/ui/button"
import { MenuContent, MenuItem, MenuRoot, MenuSeparator, MenuTrigger } from "@/components/ui/menu"
import type { WorkerView } from "@/lib/contracts/workers"
import type { TerminalView } from "./live-terminal"

export type BarActions = {
  onSearch: () => void
  onSplit: () => void
  onRename: () => void
  onRestart: () => void
  /** Null where there is no conversation that could be copied. */
  onFork: (() => void) | null
  onEarlier: () => void
  onScreenReader: (on: boolean) => void
  onClose: () => void
}

type TerminalBarProps = { worker: WorkerView; view: TerminalView | null; split: boolean; actions: BarActions }

/** One dense line above a terminal: what it is, and what can be done with it. */
export function TerminalBar({ worker, view, split, actions }: TerminalBarProps) {
  const title = view?.title
  return (
    <div className="flex h-8 shrink-0 items-center gap-1 border-line-soft border-b pr-1.5 pl-3 text-s text-text-3 touch:h-12">
      <span className="min-w-0 truncate">
        <span className="text-text-2">{worker.name}</span>
        {title && title !== worker.name && <span className="ml-2 font-mono">{title}</span>}
      </span>
      <span className="ml-auto" />
      <IconButton label="Search (Ctrl+Shift+F)" className="size-6" onClick={actions.onSearch}>
        <Search className="size-3.5" />
      </IconButton>
      <IconButton label={split ? "End split" : "Split"} aria-pressed={split} className="size-6" onClick={actions.onSplit}>
        {split ? <X className="size-3.5" /> : <Columns2 className="size-3.5" />}
      </IconButton>
      <MenuRoot>
        <MenuTrigger asChild>
          <IconButton label={`Actions for ${worker.name}`} className="size-6">
            <Ellipsis className="size-3.5" />
          </IconButton>
        </MenuTrigger>
        <MenuContent align="end">
          <MenuItem onSelect={actions.onRename}>Rename</MenuItem>
          <MenuItem onSelect={actions.onRestart}>
            <RotateCcw /> Restart…
          </MenuItem>
          {actions.onFork && (
            <MenuItem onSelect={actions.onFork}>
              <GitFork /> Fork conversation
            </MenuItem>
          )}
          <MenuItem onSelect={actions.onEarlier}>
            <History /> Earlier output
          </MenuItem>
          <MenuItem onSelect={() => actions.onScreenReader(!view?.screenReader)}>
            {view?.screenReader ? "✓ " : ""}Screen reader mode
          </MenuItem>
          <MenuSeparator />
          <MenuItem danger onSelect={actions.onClose}>
            <X /> Close
          </MenuItem>
        </MenuContent>
      </MenuRoot>
    </div>
  )
}
