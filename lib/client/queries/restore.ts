import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect } from "react"
import type { RestorePreview, RestoreResult, RestoreTask } from "@/lib/contracts/restore"
import { getJson, postJson } from "../api"
import { onRestoreProgress } from "../socket"
import { refreshTask } from "./tasks"

const path = (taskId: number) => `/api/v1/tasks/${taskId}/restore`

export const restoreQuery = (taskId: number, sessionId: string) =>
  queryOptions({
    queryKey: ["restore", taskId, sessionId],
    queryFn: () => getJson<RestorePreview>(`${path(taskId)}?session_id=${sessionId}`),
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
    mutationFn: (request: RestoreTask) => postJson<RestoreResult>(path(taskId), request),
    onSettled: () => refreshTask(client, taskId),
  })
}
