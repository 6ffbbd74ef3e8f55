"use client"

import { Group, Panel, Separator } from "react-resizable-panels"
import { usePhone } from "@/lib/client/hooks"
import type { WorkerView } from "@/lib/contracts/workers"
import { TerminalPane, type TerminalPaneProps } from "./terminal-pane"

type TerminalDeckProps = Pick<TerminalPaneProps, "set"> & {
  left: WorkerView
  right: WorkerView | null
  /** Which of the two the keyboard is in. */
  active: string
  paneOf: (worker: WorkerView) => Pick<TerminalPaneProps, "ended" | "onSplit" | "onRename" | "onFork" | "onClose" | "onRun" | "onFocus">
}

/** One terminal, or two: beside each other, on a phone below each other. */
export function TerminalDeck({ set, left, right, active, paneOf }: TerminalDeckProps) {
  const phone = usePhone()
  const pane = (worker: WorkerView, split: boolean) => (
    <TerminalPane key={worker.id} worker={worker} set={set} split={split} takesFocus={worker.id === active} {...paneOf(worker)} />
  )
  if (!right) return <div className="min-h-0 flex-1">{pane(left, false)}</div>
  return (
    <Group orientation={phone ? "vertical" : "horizontal"} className="min-h-0 flex-1">
      <Panel id="left" minSize="20%">
        {pane(left, true)}
      </Panel>
      <Separator className="bg-line outline-none transition-colors hover:bg-alive focus-visible:bg-alive aria-[orientation=horizontal]:h-px aria-[orientation=vertical]:w-px" />
      <Panel id="right" minSize="20%">
        {pane(right, true)}
      </Panel>
    </Group>
  )
}
