"use client"

import { useEffect, useRef, useState } from "react"
import { Button } from "@/components/ui/button"
import type { EndedProcess } from "@/lib/client/ended-processes"
import { errorSentence } from "@/lib/client/error-sentence"
import { useRestartWorker } from "@/lib/client/queries/workers"
import type { WorkerView } from "@/lib/contracts/workers"
import { EarlierOutput } from "./earlier-output"
import { EndedStrip } from "./ended-strip"
import { PhoneKeys } from "./phone-keys"
import { RestartDialog } from "./restart-dialog"
import { TerminalBar } from "./terminal-bar"
import { TerminalSearch } from "./terminal-search"
import { type TerminalSet, useTerminalView } from "./terminal-set"
import { TerminalState } from "./terminal-state"
import { terminalWords } from "./terminal-words"

export type TerminalPaneProps = {
  worker: WorkerView
  set: TerminalSet
  split: boolean
  /** The focus goes into it when it is shown. */
  takesFocus: boolean
  ended: readonly EndedProcess[]
  onSplit: () => void
  onRename: () => void
  onFork: (() => void) | null
  onClose: () => void
  onRun: (command: string) => void
  onFocus: () => void
}

export function TerminalPane({ worker, set, split, takesFocus, ended, onRun, onFocus, ...actions }: TerminalPaneProps) {
  const slot = useRef<HTMLDivElement>(null)
  const terminal = set.of(worker.id)
  const view = useTerminalView(set, worker.id)
  const restart = useRestartWorker(worker.session_id)
  const [asking, setAsking] = useState(false)
  const [earlier, setEarlier] = useState<number | null>(null)

  useEffect(() => {
    const element = slot.current
    if (!element) return
    terminal.show(element)
    return () => terminal.hide(element)
  }, [terminal])
  const live = view?.stream.phase === "live"
  useEffect(() => {
    if (takesFocus && live) terminal.focus()
  }, [takesFocus, live, terminal])

  const showEarlier = () => setEarlier(terminal.position)
  return (
    <section
      aria-label={worker.name}
      className="relative flex h-full min-h-0 min-w-0 flex-col"
      onFocus={onFocus}
      data-terminal={worker.id}
      data-phase={view?.stream.phase ?? "loading"}
    >
      <TerminalBar
        worker={worker}
        view={view}
        split={split}
        actions={{
          ...actions,
          onSearch: () => terminal.toggleSearch(true),
          onRestart: () => setAsking(true),
          onEarlier: showEarlier,
          onScreenReader: (on) => terminal.setScreenReader(on),
        }}
      />
      <div className="relative min-h-0 flex-1">
        <div ref={slot} className="absolute inset-0" />
        {view?.searching && <TerminalSearch terminal={terminal} />}
        {view?.atTop && earlier === null && (
          <Button className="-translate-x-1/2 absolute top-2 left-1/2 z-10 rounded-full px-3 shadow-pop" onClick={showEarlier}>
            Load earlier output
          </Button>
        )}
        <TerminalState
          worker={worker}
          view={view}
          drawn={terminal.position !== null}
          onRetry={terminal.retry}
          onRestart={() => (worker.type === "agent" ? setAsking(true) : terminal.restart())}
        />
        {earlier !== null && (
          <EarlierOutput
            sessionId={worker.session_id}
            workerId={worker.id}
            name={worker.name}
            before={earlier}
            onClose={() => {
              setEarlier(null)
              terminal.focus()
            }}
          />
        )}
      </div>
      {restart.error && (
        <p role="alert" className="shrink-0 border-line-soft border-t bg-bad-soft px-3 py-1 text-bad text-s">
          {errorSentence(restart.error)}
        </p>
      )}
      <EndedStrip ended={ended} onRun={onRun} />
      <PhoneKeys terminal={terminal} ctrl={view?.ctrl ?? false} />
      <div role="status" className="sr-only">
        {worker.name}: {terminalWords(view)}
      </div>
      {asking && (
        <RestartDialog
          worker={worker}
          running={live}
          onClose={() => setAsking(false)}
          onRestart={(goOn) => restart.mutate({ id: worker.id, goOn }, { onSuccess: terminal.retryEnded })}
        />
      )}
    </section>
  )
}
