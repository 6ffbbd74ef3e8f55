import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef } from "react"
import type { SessionStatusReport } from "@/lib/contracts/status"
import { postJson } from "../api"
import { askResume } from "../socket"
import { sessionQuery, statusQuery } from "./session"

/**
 * Opening a page wakes a session that sleeps: its status is asked, and if it can be resumed that is requested, once per view.
 * The banner follows the events; several tabs asking at once start one agent (the server sees to that).
 */
export function useSessionResumption(sessionId: string): SessionStatusReport | undefined {
  const client = useQueryClient()
  const { data: report } = useQuery(statusQuery(sessionId))
  const asked = useRef<string | null>(null)
  const wakes = report?.needs_resume === true && report.is_resumable
  useEffect(() => {
    if (!wakes || asked.current === sessionId) return
    asked.current = sessionId
    const wake = async () => {
      if (!(await askResume(sessionId))) await postJson(`/api/v1/sessions/${sessionId}/resume`)
      await client.invalidateQueries(sessionQuery(sessionId))
    }
    // A wake-up that failed is an event of the session, and shown as one.
    wake().catch(() => undefined)
  }, [client, sessionId, wakes])
  return report
}
