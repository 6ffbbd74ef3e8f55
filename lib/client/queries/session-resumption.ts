import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef } from "react"
import type { SessionStatusReport } from "@/lib/contracts/status"
import { call } from "../api"
import { askResume } from "../socket"
import { sessionQuery, statusQuery } from "./session"

/** An executor that falls silent writes no event of it: only asking tells. */
const ASK_EVERY_MS = 10_000

/**
 * Opening a page wakes a session that sleeps: its status is asked, and if it can be resumed that is requested, once per view.
 * A task that was put away stays put away until a person says otherwise; `asleep` is undefined until that is known.
 * An agent that is stopped later stays stopped until someone says something.
 * The banner follows the events; several tabs asking at once start one agent (the server sees to that).
 */
export function useSessionResumption(sessionId: string, asleep: boolean | undefined): SessionStatusReport | undefined {
  const client = useQueryClient()
  const { data: report, isFetchedAfterMount: current } = useQuery({
    ...statusQuery(sessionId),
    staleTime: 0,
    refetchInterval: ASK_EVERY_MS,
  })
  const decided = useRef<string | null>(null)
  const wakes = report?.needs_resume === true && report.is_resumable
  useEffect(() => {
    if (!current || asleep === undefined || decided.current === sessionId) return
    decided.current = sessionId
    if (!wakes || asleep) return
    const wake = async () => {
      if (!(await askResume(sessionId))) await call("POST /api/v1/sessions/{sessionId}/resume", { params: { sessionId }, body: {} })
      await client.invalidateQueries(sessionQuery(sessionId))
    }
    // A wake-up that failed is an event of the session, and shown as one.
    wake().catch(() => undefined)
  }, [client, sessionId, current, wakes, asleep])
  return report
}
