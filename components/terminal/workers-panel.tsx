"use client"

import { endedIn } from "@/lib/client/ended-processes"
import type { Item } from "@/lib/client/transcript-items"
import type { WorkerView } from "@/lib/contracts/workers"
import { CloseDialog } from "./close-dialog"
import { TerminalDeck } from "./terminal-deck"
import type { WorkersPanel as Panel } from "./use-workers-panel"

/** What is shown while a terminal's tab is chosen, and what asks before one is closed. */
export function WorkersPanel({ panel, items }: { panel: Panel; items: readonly Item[] }) {
  const paneOf = (worker: WorkerView) => ({
    ended: endedIn(items, worker.id),
    onSplit: () => panel.toggleSplit(worker),
    onRename: () => panel.tabs.onRenaming(worker.id),
    onFork: panel.canFork(worker) ? () => panel.fork(worker) : null,
    onClose: () => void panel.requestClose(worker),
    onRun: (command: string) => void panel.runAgain(worker.id, command),
    onFocus: () => panel.setFocused(worker.id),
  })
  return (
    <>
      {panel.failure && (
        <p role="alert" className="shrink-0 bg-bad-soft px-3.5 py-1 text-bad text-s">
          {panel.failure}
        </p>
      )}
      {panel.left && <TerminalDeck set={panel.set} left={panel.left} right={panel.right} active={panel.active} paneOf={paneOf} />}
      {panel.closing && (
        <CloseDialog worker={panel.closing} onClose={panel.stopClosing} onEnd={() => panel.closing && panel.end(panel.closing)} />
      )}
    </>
  )
}
