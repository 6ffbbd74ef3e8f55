import { usePathname } from "next/navigation"
import { useEffect, useRef } from "react"
import { notify } from "@/lib/client/notifications"
import { ALL_TASKS, useTasks } from "@/lib/client/queries/tasks"
import { phaseOf, sessionPath } from "@/lib/client/session-phase"

/** The browser tab counts the sessions that need a person; a new one raises a notification while the page is hidden. */
export function useAttention(taskId: string | undefined): void {
  const pathname = usePathname()
  const { data: tasks } = useTasks(ALL_TASKS)
  const title = tasks?.find((task) => String(task.id) === taskId)?.title
  const needing =
    tasks?.flatMap((task) => task.sessions.filter((s) => phaseOf(s) === "needs_you").map((session) => ({ task, session }))) ?? []
  const known = useRef<ReadonlySet<string> | null>(null)

  useEffect(() => {
    if (!tasks) return
    const waits = needing.flatMap(({ task, session }) => session.waits.map((wait) => ({ task, session, wait })))
    for (const { task, session, wait } of waits) {
      if (known.current && !known.current.has(wait.token_id)) notify(task.title, wait.title, sessionPath(session), wait.token_id)
    }
    known.current = new Set(waits.map(({ wait }) => wait.token_id))
  })

  useEffect(() => {
    document.title = `${needing.length > 0 ? `(${needing.length}) ` : ""}${title ? `${title} · ` : ""}Rewake`
  }, [needing.length, title, pathname])
}
