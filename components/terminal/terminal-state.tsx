import { Button } from "@/components/ui/button"
import { Glyph } from "@/components/ui/glyph"
import type { WorkerView } from "@/lib/contracts/workers"
import type { TerminalView } from "./live-terminal"
import { endWords } from "./terminal-words"

type TerminalStateProps = {
  worker: WorkerView
  view: TerminalView | null
  /** Something is drawn already: what is said stands above it, not in its place. */
  drawn: boolean
  onRetry: () => void
  onRestart: () => void
}

/** What stands over a terminal while it is not live; never an empty pane. */
export function TerminalState({ worker, view, drawn, onRetry, onRestart }: TerminalStateProps) {
  const stream = view?.stream ?? { phase: "loading" as const }
  switch (stream.phase) {
    case "live":
      return null
    case "loading":
    case "connecting":
      return drawn ? <Chip>Reconnecting…</Chip> : <Middle busy>Opening {worker.name}…</Middle>
    case "waiting":
      if (drawn) return <Chip>{stream.why}</Chip>
      return (
        <Middle busy={!stream.putAway}>
          {stream.putAway ? "This task was put away. Its terminals come back with it, with new shells." : stream.why}
        </Middle>
      )
    case "ended":
      return (
        <div className="absolute inset-x-0 bottom-0 z-10 flex items-center gap-2.5 border-line-soft border-t bg-panel px-3 py-1.5 text-s">
          <span className="text-text-2">
            {worker.type === "agent" ? "The agent" : "The shell"} {endWords(stream)}.
          </span>
          <span className="ml-auto" />
          <Button className="py-[2px]" onClick={onRestart}>
            {worker.type === "agent" ? "Start again…" : "New shell"}
          </Button>
        </div>
      )
    case "gone":
      return <Middle>This terminal was closed.</Middle>
    case "failed":
      return (
        <div role="alert" className="absolute inset-0 z-10 grid place-items-center bg-bg/85 px-6 text-center">
          <div>
            <p className="mb-3 text-text-2">{stream.why}</p>
            <Button onClick={onRetry}>Retry</Button>
          </div>
        </div>
      )
  }
}

function Middle({ children, busy = false }: { children: React.ReactNode; busy?: boolean }) {
  return (
    <div role="status" className="absolute inset-0 z-10 grid place-items-center bg-bg px-6 text-center text-text-3">
      <span className="flex items-center gap-2">
        {busy && <Glyph name="work" className="animate-turn" />}
        <span>{children}</span>
      </span>
    </div>
  )
}

const Chip = ({ children }: { children: React.ReactNode }) => (
  <div
    role="status"
    className="absolute top-2 right-4 z-10 flex items-center gap-1.5 rounded-full border border-line bg-raised px-2.5 py-0.5 text-s text-text-2"
  >
    <Glyph name="work" size={11} className="animate-turn" />
    {children}
  </div>
)
