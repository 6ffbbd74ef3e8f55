"use client"

import { Square } from "lucide-react"
import { type KeyboardEvent, useEffect, useRef } from "react"
import { AttachButton } from "@/components/attachments/attach-button"
import { DraftCards } from "@/components/attachments/draft-cards"
import type { DraftAttachments } from "@/components/attachments/use-draft-attachments"
import { useFileDrop } from "@/components/attachments/use-file-drop"
import { Button } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { Kbd } from "@/components/ui/kbd"
import { useAutoHeight, useHydrated } from "@/lib/client/hooks"
import { isPlainKey } from "@/lib/client/keys"
import type { Phase } from "@/lib/client/session-phase"
import type { AgentCommand, OptionValues, SessionSetup } from "@/lib/contracts/agent-setup"
import { AgentOptions } from "./agent-options"
import { CommandMenu } from "./command-menu"
import { ContextUsage } from "./context-usage"
import { useCommandMenu } from "./use-command-menu"

const NO_COMMANDS: readonly AgentCommand[] = []

type ComposerProps = {
  draft: string
  onDraft: (text: string) => void
  attachments: DraftAttachments
  agentName: string
  phase: Phase
  /** The task was put away: a message asks first whether it should come back. */
  asks: boolean
  /** Something is running or queued: what is sent now waits its turn. */
  queues: boolean
  stop: { shown: boolean; busy: boolean; onStop: () => void }
  onSend: (text: string) => void
  /** What can be set about the agent; null while it has not been asked. */
  setup: SessionSetup | null
  onChoose: (values: OptionValues) => void
}

const placeholders: Partial<Record<Phase, string>> = {
  working: "Reply, or queue what comes next…",
  needs_you: "Answer above, or say something else instead…",
  asleep: "Reply. This wakes the session…",
}

export function Composer({ draft, onDraft, attachments, agentName, phase, asks, queues, stop, onSend, setup, onChoose }: ComposerProps) {
  const hydrated = useHydrated()
  const field = useRef<HTMLTextAreaElement>(null)
  const empty = draft.trim() === "" && attachments.cards.length === 0
  const ready = !empty && attachments.settled
  const { over, onPaste } = useFileDrop(field, attachments.add)
  useAutoHeight(field, draft)
  useFocusKey(field)
  const commands = useCommandMenu(draft, onDraft, setup?.commands ?? NO_COMMANDS)

  const send = () => {
    if (!ready) return
    onSend(draft)
    onDraft("")
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (commands.onKeyDown(event)) return
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <div
      data-drop={over || undefined}
      className="rounded-lg border border-line bg-raised focus-within:border-[color-mix(in_oklab,var(--alive)_55%,var(--line))] data-drop:border-alive data-drop:border-dashed"
    >
      <CommandMenu menu={commands} />
      <DraftCards attachments={attachments} onLast={() => field.current?.focus()} />
      <textarea
        {...commands.field}
        ref={field}
        data-composer
        rows={1}
        value={draft}
        onChange={(event) => onDraft(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
        aria-label={`Message to ${agentName}`}
        placeholder={over ? "Drop to attach" : asks ? "Write to continue this task…" : (placeholders[phase] ?? "Reply…")}
        className="block max-h-[38dvh] min-h-[46px] w-full resize-none bg-transparent px-3 pt-2.5 pb-1 text-l leading-[1.5] outline-none placeholder:overflow-hidden placeholder:text-ellipsis placeholder:whitespace-nowrap"
      />
      <div className="flex items-center gap-1.5 px-2 pb-2 text-s text-text-3">
        <AttachButton onFiles={attachments.add} />
        <span className={cn("truncate", (setup?.options.length ?? 0) > 0 && "phone:hidden")}>{agentName}</span>
        {setup && <AgentOptions options={setup.options} pending={setup.pending} onChoose={onChoose} />}
        <span className="truncate phone:hidden">{phase === "needs_you" && !empty && "· sending this takes the place of an answer"}</span>
        <span className="ml-auto" />
        <ContextUsage usage={setup?.usage ?? null} />
        {stop.shown && (
          <Button look="quiet" disabled={stop.busy} onClick={stop.onStop} aria-label="Interrupt the agent">
            <Square className="size-3 fill-current" /> {stop.busy ? "Stopping…" : "Stop"} <Kbd>Esc</Kbd>
          </Button>
        )}
        <Button look="primary" disabled={!hydrated || !ready} onClick={send}>
          {queues ? "Queue" : "Send"}
        </Button>
      </div>
    </div>
  )
}

function useFocusKey(field: React.RefObject<HTMLTextAreaElement | null>): void {
  useEffect(() => {
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      if (event.key !== "c" || !isPlainKey(event)) return
      event.preventDefault()
      field.current?.focus()
    }
    window.addEventListener("keydown", onKeyDown)
    return () => window.removeEventListener("keydown", onKeyDown)
  }, [field])
}
