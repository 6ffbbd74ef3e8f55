import { useEffect, useMemo, useSyncExternalStore } from "react"
import { LiveTerminal, type TerminalView } from "./live-terminal"

/** The terminals this page has opened of one session. They stay open behind other tabs, and end with the page. */
export class TerminalSet {
  private readonly open = new Map<string, { terminal: LiveTerminal; unlisten: () => void }>()
  private readonly listeners = new Set<() => void>()

  constructor(readonly sessionId: string) {}

  of(workerId: string): LiveTerminal {
    const known = this.open.get(workerId)
    if (known) return known.terminal
    const terminal = new LiveTerminal(this.sessionId, workerId, { leave: () => document.getElementById(tabId(workerId))?.focus() })
    this.open.set(workerId, { terminal, unlisten: terminal.listen(this.tell) })
    return terminal
  }
  readonly viewOf = (workerId: string): TerminalView | null => this.open.get(workerId)?.terminal.get() ?? null

  readonly listen = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
  private readonly tell = (): void => {
    for (const listener of this.listeners) listener()
  }

  /** An executor that has just come up is not left to the next try. */
  retryWaiting(): void {
    for (const { terminal } of this.open.values()) if (terminal.get().stream.phase === "waiting") terminal.retry()
  }
  keepOnly(workerIds: ReadonlySet<string>): void {
    for (const id of [...this.open.keys()]) if (!workerIds.has(id)) this.close(id)
  }
  private close(workerId: string): void {
    const one = this.open.get(workerId)
    this.open.delete(workerId)
    one?.unlisten()
    one?.terminal.dispose()
  }
  dispose(): void {
    for (const id of [...this.open.keys()]) this.close(id)
  }
}

export const tabId = (workerId: string) => `tab-${workerId}`

export function useTerminalSet(sessionId: string): TerminalSet {
  const set = useMemo(() => new TerminalSet(sessionId), [sessionId])
  useEffect(() => () => set.dispose(), [set])
  return set
}

export const useTerminalView = (set: TerminalSet, workerId: string): TerminalView | null =>
  useSyncExternalStore(
    set.listen,
    () => set.viewOf(workerId),
    () => null,
  )
