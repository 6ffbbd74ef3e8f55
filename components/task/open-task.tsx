"use client"

import { useRouter } from "next/navigation"
import { useEffect } from "react"
import { NotFound } from "@/components/frame/not-found"
import { useTask } from "@/lib/client/queries/tasks"
import { newestSession, sessionPath } from "@/lib/client/session-phase"

/** A task has no page of its own: its newest session is shown. */
export function OpenTask({ taskId }: { taskId: number }) {
  const router = useRouter()
  const task = useTask(taskId)
  const session = task.data ? newestSession(task.data) : undefined
  useEffect(() => {
    if (session) router.replace(sessionPath(session))
  }, [router, session])
  return task.error ? <NotFound error={task.error} retry={() => void task.refetch()} /> : null
}
