import { X } from "lucide-react"
import { useRef } from "react"
import { IconButton } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { ProgressBar } from "@/components/ui/progress-bar"
import { formatBytes } from "@/lib/client/format"
import { isPicture } from "@/lib/contracts/attachments"
import { AttachmentFace } from "./attachment-face"
import type { DraftAttachments, DraftCard } from "./use-draft-attachments"

/** Above the text that is being written: what goes with it. */
export function DraftCards({ attachments, onLast }: { attachments: DraftAttachments; onLast: () => void }) {
  const list = useRef<HTMLUListElement>(null)
  if (attachments.cards.length === 0) return null
  const remove = (key: string) => {
    attachments.remove(key)
    // The button with the focus is gone: the next card's, or the text.
    if (attachments.cards.length === 1) onLast()
    else list.current?.querySelector<HTMLElement>(`[data-remove]:not([data-remove="${key}"])`)?.focus()
  }
  return (
    <ul ref={list} aria-label="Attachments" className="flex max-h-[30dvh] flex-wrap items-start gap-1.5 overflow-y-auto px-2.5 pt-2.5">
      {attachments.cards.map((card) => (
        <Card key={card.key} card={card} onRemove={() => remove(card.key)} />
      ))}
    </ul>
  )
}

function Card({ card, onRemove }: { card: DraftCard; onRemove: () => void }) {
  const { name, bytes, state } = card
  const picture = state.kind === "ready" && isPicture(state.attachment) ? state.attachment : null
  return (
    <li
      className={cn(
        "flex w-[212px] items-center gap-2 rounded-md border bg-bg py-1 pr-1 pl-1.5 text-s phone:w-full",
        state.kind === "failed" ? "border-bad" : "border-line",
      )}
    >
      <AttachmentFace picture={picture} className="size-8" />
      <span className="min-w-0 flex-1">
        <span className="block truncate text-text" title={name}>
          {name}
        </span>
        {state.kind === "sending" && <ProgressBar label={`Uploading ${name}`} percent={state.percent} />}
        {state.kind === "ready" && <span className="block text-text-3">{formatBytes(bytes)}</span>}
        {state.kind === "failed" && (
          <span role="alert" className="block text-bad">
            {state.words}
          </span>
        )}
      </span>
      <IconButton label={`Remove ${name}`} data-remove={card.key} className="size-6" onClick={onRemove}>
        <X className="size-3.5" />
      </IconButton>
    </li>
  )
}
