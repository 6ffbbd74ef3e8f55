import { queryOptions, useMutation, useQuery } from "@tanstack/react-query"
import type { SessionStatusReport } from "@/lib/contracts/status"
import type { AppendResult, SessionView } from "@/lib/contracts/task"
import type { Outcome, Wait } from "@/lib/contracts/waits"
import { deleteJson, getJson, patchJson, postJson } from "../api"
import { askStatus } from "../socket"

const path = (sessionId: string) => `/api/v1/sessions/${sessionId}`

export const sessionQuery = (sessionId: string) =>
  queryOptions({ queryKey: ["session", sessionId], queryFn: () => getJson<SessionView>(path(sessionId)) })
export const useSession = (sessionId: string) => useQuery(sessionQuery(sessionId))

export const statusQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ["session-status", sessionId],
    queryFn: async () => (await askStatus(sessionId)) ?? (await getJson<SessionStatusReport>(`${path(sessionId)}/status`)),
  })

export const appendMessage = (
  taskId: number,
  body: { message: string; attachments?: string[]; session_id: string; client_message_id: string },
) => postJson<AppendResult>(`/api/v1/tasks/${taskId}/append`, body)

export const useCancelRun = (sessionId: string) => useMutation({ mutationFn: () => postJson<unknown>(`${path(sessionId)}/cancel`) })

export const useResumeSession = (sessionId: string) =>
  useMutation({
    mutationFn: (request: { fresh?: boolean; reinstate?: boolean; sign_in?: string }) =>
      postJson<unknown>(`${path(sessionId)}/resume`, request),
  })

export const useAbandonExecutor = (sessionId: string) => useMutation({ mutationFn: () => postJson<unknown>(`${path(sessionId)}/abandon`) })

export const useAnswerWait = (sessionId: string) =>
  useMutation({
    mutationFn: ({ wait, outcome }: { wait: Wait; outcome: Outcome }) =>
      postJson<unknown>(`${path(sessionId)}/waits/${wait.token_id}`, { secret: wait.secret, outcome }),
  })

export const usePatchPrompt = (sessionId: string) =>
  useMutation({
    mutationFn: ({ promptId, ...change }: { promptId: string; message?: string; position?: number; held?: false }) =>
      patchJson<unknown>(`${path(sessionId)}/queue/${promptId}`, change),
  })

export const useWithdrawPrompt = (sessionId: string) =>
  useMutation({ mutationFn: (promptId: string) => deleteJson(`${path(sessionId)}/queue/${promptId}`) })
