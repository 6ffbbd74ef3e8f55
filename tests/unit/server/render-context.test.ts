import { expect, test } from "vitest"
import type { SessionEvent } from "../../../lib/contracts/events"
import { renderContext } from "../../../server/history"

const at = (seq: number, event: object) => ({ session_id: "s", seq, ts: "2026-01-01T00:00:00.000Z", v: 1, ...event }) as SessionEvent
const shot = { id: "att_1", name: "shot.png", mime_type: "image/png", bytes: 10, sha256: "aa" }
const drawing = { id: "att_2", name: "plan.svg", mime_type: "image/svg+xml", bytes: 20, sha256: "bb" }

test("an injected history names in words what a message brought, also after the message was edited", () => {
  const text = renderContext(
    [
      at(1, { kind: "prompt.queued", prompt_id: "p", message_id: "m", content: "wrong", attachments: [shot, drawing], rank: 0 }),
      at(2, { kind: "prompt.edited", prompt_id: "p", content: "what is this?" }),
      at(3, { kind: "prompt.delivering", prompt_id: "p", run_id: "r", spool_id: "x", body_sha256: "y" }),
    ],
    "go on",
  )
  expect(text).toContain("[USER]: what is this?\n[picture: shot.png]\n[file: plan.svg]\n")
})
