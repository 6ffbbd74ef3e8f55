import { useEffect, useRef, useState } from "react"
import { attachmentRefusal, changeKept, insertInPlace, readKept, uploadAttachment } from "@/lib/client/attachments"
import { errorSentence } from "@/lib/client/error-sentence"
import type { Attachment } from "@/lib/contracts/attachments"

export type DraftCard = {
  key: string
  name: string
  bytes: number
  state: { kind: "sending"; percent: number } | { kind: "ready"; attachment: Attachment } | { kind: "failed"; words: string }
}

let made = 0
/** Where each upload of this page stands among the others, by its attachment's id. */
const places = new Map<string, number>()
const asCard = (attachment: Attachment): DraftCard => ({
  key: attachment.id,
  name: attachment.name,
  bytes: attachment.bytes,
  state: { kind: "ready", attachment },
})

/** What goes with the message of one draft. Uploaded at once and kept with the draft, so that a reload loses neither. */
export function useDraftAttachments(draft: string) {
  const [cards, show] = useState<readonly DraftCard[]>([])
  // Two pastes in one moment must each see the other's cards.
  const now = useRef(cards)
  const setCards = (how: (all: readonly DraftCard[]) => readonly DraftCard[]) => {
    now.current = how(now.current)
    show(now.current)
  }
  const shown = useRef(draft)
  /** Removed while they were on their way up. */
  const dropped = useRef(new Set<string>())
  useEffect(() => {
    shown.current = draft
    setCards(() => readKept(draft).map(asCard))
  }, [draft])

  // An upload may end when another draft is on the screen: it is kept with its own.
  const change = (of: string, key: string, how: (card: DraftCard) => DraftCard) => {
    if (shown.current === of) setCards((all) => all.map((card) => (card.key === key ? how(card) : card)))
  }
  async function send(card: DraftCard, file: File, place: number) {
    const of = shown.current
    try {
      const attachment = await uploadAttachment(file, (percent) =>
        change(of, card.key, (sent) => ({ ...sent, state: { kind: "sending", percent } })),
      )
      if (dropped.current.delete(card.key)) return
      places.set(attachment.id, place)
      changeKept(of, (kept) => insertInPlace(kept, attachment, places))
      // Under the same key: with a new one the button that has the focus would be another, and the press on it lost.
      change(of, card.key, () => ({ ...asCard(attachment), key: card.key }))
    } catch (error) {
      change(of, card.key, (sent) => ({ ...sent, state: { kind: "failed", words: errorSentence(error) } }))
    }
  }
  return {
    cards,
    /** Nothing is on its way or has failed: the message can go. */
    settled: cards.every(({ state }) => state.kind === "ready"),
    add(files: readonly File[]) {
      const going = now.current.filter(({ state }) => state.kind !== "failed")
      const before = { count: going.length, bytes: going.reduce((sum, { bytes }) => sum + bytes, 0) }
      const added = files.map((file) => {
        const words = attachmentRefusal(file.size, before)
        if (words === null) {
          before.count += 1
          before.bytes += file.size
        }
        const state: DraftCard["state"] = words === null ? { kind: "sending", percent: 0 } : { kind: "failed", words }
        const place = ++made
        return { file, place, card: { key: `new-${place}`, name: file.name || "file", bytes: file.size, state } }
      })
      setCards((all) => [...all, ...added.map(({ card }) => card)])
      for (const { card, file, place } of added) if (card.state.kind === "sending") void send(card, file, place)
    },
    remove(key: string) {
      const card = now.current.find((one) => one.key === key)
      if (card?.state.kind === "sending") dropped.current.add(key)
      if (card?.state.kind === "ready") {
        const gone = card.state.attachment.id
        changeKept(draft, (kept) => kept.filter(({ id }) => id !== gone))
      }
      setCards((all) => all.filter((one) => one.key !== key))
    },
    /** All of them, for a message that is sent now. */
    take(): Attachment[] {
      const taken = now.current.flatMap(({ state }) => (state.kind === "ready" ? [state.attachment] : []))
      changeKept(draft, () => [])
      setCards(() => [])
      return taken
    },
    /** Back from a message that was not sent. */
    giveBack(attachments: readonly Attachment[]) {
      if (attachments.length === 0) return
      changeKept(draft, (kept) => [...attachments, ...kept])
      setCards((all) => [...attachments.map(asCard), ...all])
    },
  }
}
export type DraftAttachments = ReturnType<typeof useDraftAttachments>
