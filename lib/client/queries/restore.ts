import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect } from "react"
import type { RestorePreview, RestoreTask } from "@/lib/contracts/restore"
import { call } from "../api"
import { onRestoreProgress } from "../socket"
import { refreshTask } from "./tasks"

export const restoreQuery = (taskId: number, sessionId: string) =>
  queryOptions({
    queryKey: ["restore", taskId, sessionId],
    queryFn: () => call("GET /api/v1/tasks/{taskId}/restore", { params: { taskId }, query: { session_id: sessionId } }),
  })

/** What would come back, and how far it is: asked once, then moved along by the socket. */
export function useRestorePreview(taskId: number, sessionId: string, wanted: boolean): RestorePreview | undefined {
  const client = useQueryClient()
  const { data } = useQuery({ ...restoreQuery(taskId, sessionId), enabled: wanted })
  useEffect(() => {
    if (!wanted) return
    return onRestoreProgress((progress) => {
      if (progress.session_id !== sessionId) return
      client.setQueryData(restoreQuery(taskId, sessionId).queryKey, (known) => known && { ...known, progress })
    })
  }, [client, taskId, sessionId, wanted])
  return data
}

export function useRestoreTask(taskId: number) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: RestoreTask) => call("POST /api/v1/tasks/{taskId}/restore", { params: { taskId }, body }),
    onSettled: () => refreshTask(client, taskId),
  })
}
