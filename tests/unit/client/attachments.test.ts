import { expect, test } from "vitest"
import { attachmentRefusal, attachmentsWords, changeKept, insertInPlace, messageWords, readKept } from "../../../lib/client/attachments"
import { applyEvents, emptyTranscript } from "../../../lib/client/transcript"
import type { SessionEvent } from "../../../lib/contracts/events"

const shot = { id: "att_1", name: "shot.png", mime_type: "image/png", bytes: 10, sha256: "aa" }
const notes = { id: "att_2", name: "notes.md", mime_type: "text/markdown", bytes: 20, sha256: "bb" }
const MB = 1024 * 1024

test("what cannot go with a message is said before it is uploaded", () => {
  expect(attachmentRefusal(5 * MB, { count: 0, bytes: 0 })).toBeNull()
  expect(attachmentRefusal(5 * MB + 1, { count: 0, bytes: 0 })).toContain("at most 5.0 MB")
  expect(attachmentRefusal(1, { count: 10, bytes: 0 })).toContain("At most 10 files")
  expect(attachmentRefusal(4 * MB, { count: 4, bytes: 16 * MB })).toBeNull()
  expect(attachmentRefusal(4 * MB + 1, { count: 4, bytes: 16 * MB })).toContain("more than 20 MB")
})

test("a message is told in one line, also one without a text", () => {
  expect(messageWords("hello")).toBe("hello")
  expect(messageWords("see", [shot])).toBe("see (with shot.png)")
  expect(messageWords(" ", [shot, notes])).toBe("shot.png, notes.md")
  expect(attachmentsWords([shot, notes])).toBe("2 attachments: shot.png, notes.md")
})

test("each draft keeps its own", () => {
  changeKept("draft.a", (kept) => [...kept, shot])
  changeKept("draft.b", (kept) => [...kept, notes])
  expect([readKept("draft.a"), readKept("draft.b")]).toEqual([[shot], [notes]])
  changeKept("draft.a", () => [])
  expect(readKept("draft.a")).toEqual([])
})

test("files are kept as they were given, whichever upload ends first", () => {
  const older = { ...notes, id: "att_0" }
  const late = { ...notes, id: "att_3" }
  const places = new Map([
    [shot.id, 1],
    [notes.id, 2],
    [late.id, 3],
  ])
  const kept = [late, shot, notes].reduce((all, one) => insertInPlace(all, one, places), [older])
  expect(kept).toEqual([older, shot, notes, late])
})

test("a message shows what it brought, queued, edited and delivered; an old log without any shows none", () => {
  const at = (seq: number, event: object) => ({ session_id: "s", seq, ts: "2026-01-01T00:00:00.000Z", v: 1, ...event }) as SessionEvent
  const queued = applyEvents(emptyTranscript(), [
    at(1, { kind: "message.user", message_id: "m", prompt_id: "p", content: "see", attachments: [shot] }),
    at(2, {
      kind: "prompt.queued",
      message_id: "m",
      prompt_id: "p",
      content: "see",
      attachments: [shot],
      rank: 0,
      client_message_id: null,
    }),
    at(3, { kind: "prompt.edited", prompt_id: "p", content: "" }),
    at(4, { kind: "message.user", message_id: "n", prompt_id: "q", content: "old" }),
    at(5, { kind: "prompt.queued", message_id: "n", prompt_id: "q", content: "old", rank: 1, client_message_id: null }),
  ])
  expect(queued.queue).toMatchObject([
    { text: "", attachments: [shot] },
    { text: "old", attachments: [] },
  ])
  const delivered = applyEvents(queued, [at(6, { kind: "run.started", run_id: "r", boot_id: "b", prompt_id: "p" })])
  expect(delivered.items).toMatchObject([{ type: "user", text: "", attachments: [shot] }])
  const later = emptyTranscript([{ prompt_id: "p", message: "see", attachments: [shot], position: 0 }])
  expect(later.queue).toMatchObject([{ attachments: [shot] }])
})
