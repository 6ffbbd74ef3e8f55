import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import fc from "fast-check"
import { createElement, type ReactNode } from "react"
import { renderToString } from "react-dom/server"
import { describe, expect, test } from "vitest"
import { ContextUsage } from "@/components/session/context-usage"
import { SessionProvider } from "@/components/session/session-context"
import { TranscriptRow } from "@/components/session/transcript-row"
import { buildTimeline } from "@/lib/client/timeline"
import { applyEvents, emptyTranscript } from "@/lib/client/transcript"
import { AgentUsage } from "@/lib/contracts/agent-setup"
import { SessionEvent } from "@/lib/contracts/events"
import { arbitraryOf } from "../../support/arbitrary-of"

/** Whatever an agent or an imported file says, within the contract: an event of any kind, with any words in it. */
const anyEvent = arbitraryOf(SessionEvent)
const inOrder = (events: readonly SessionEvent[]) =>
  events.map(
    (event, at) => ({ ...event, session_id: "sess_1", seq: at + 1, ts: new Date(Date.UTC(2026, 0, 1) + at).toISOString() }) as SessionEvent,
  )

const session = {
  ...{ agentName: "Agent", folds: new Map(), undoFresh: () => {}, runAgain: () => {}, hasTerminal: () => true },
  answers: { waitOf: () => undefined, chosen: () => undefined, error: () => undefined, answer: () => {} },
}
const onPage = (row: ReactNode) =>
  renderToString(
    createElement(QueryClientProvider, { client: new QueryClient() }, createElement(SessionProvider, { value: session as never }, row)),
  )

describe("no event can take a page down", () => {
  test("any log is folded, and each of its rows is drawn, open or closed", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 8 }), (events) => {
        const { items } = applyEvents(emptyTranscript(), inOrder(events))
        for (const item of items) {
          for (const open of [false, true]) {
            session.folds.set(item.key, open)
            onPage(createElement(TranscriptRow, { item }))
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  test("every kind is folded into the transcript and the timeline, with any words in it", () => {
    for (const kind of SessionEvent.options) {
      fc.assert(
        fc.property(arbitraryOf(kind), (event) => {
          const events = inOrder([event as SessionEvent])
          for (const item of applyEvents(emptyTranscript(), events).items) onPage(createElement(TranscriptRow, { item }))
          buildTimeline(events)
        }),
        { numRuns: 40 },
      )
    }
  })

  test("any usage is shown, also in a currency that is none", () => {
    fc.assert(fc.property(arbitraryOf(AgentUsage), (usage) => void onPage(createElement(ContextUsage, { usage }))))
    const usage = { used: 1, size: 10, cost: { amount: 2.5, currency: "credits" } }
    expect(onPage(createElement(ContextUsage, { usage }))).toContain("2.5 credits so far")
  })
})
