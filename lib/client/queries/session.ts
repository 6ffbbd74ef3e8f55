import { queryOptions, useMutation, useQuery } from "@tanstack/react-query"
import type { GivenBody } from "@/lib/contracts/api"
import type { Outcome, Wait } from "@/lib/contracts/waits"
import { call } from "../api"
import { askStatus } from "../socket"

export const sessionQuery = (sessionId: string) =>
  queryOptions({ queryKey: ["session", sessionId], queryFn: () => call("GET /api/v1/sessions/{sessionId}", { params: { sessionId } }) })
export const useSession = (sessionId: string) => useQuery(sessionQuery(sessionId))

export const statusQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ["session-status", sessionId],
    queryFn: async () => (await askStatus(sessionId)) ?? (await call("GET /api/v1/sessions/{sessionId}/status", { params: { sessionId } })),
  })

export const appendMessage = (taskId: number, body: GivenBody<"POST /api/v1/tasks/{taskId}/append">) =>
  call("POST /api/v1/tasks/{taskId}/append", { params: { taskId }, body })

export const useCancelRun = (sessionId: string) =>
  useMutation({ mutationFn: () => call("POST /api/v1/sessions/{sessionId}/cancel", { params: { sessionId } }) })

export const useResumeSession = (sessionId: string) =>
  useMutation({
    mutationFn: (body: GivenBody<"POST /api/v1/sessions/{sessionId}/resume">) =>
      call("POST /api/v1/sessions/{sessionId}/resume", { params: { sessionId }, body }),
  })

export const useAbandonExecutor = (sessionId: string) =>
  useMutation({ mutationFn: () => call("POST /api/v1/sessions/{sessionId}/abandon", { params: { sessionId } }) })

export const useAnswerWait = (sessionId: string) =>
  useMutation({
    mutationFn: ({ wait, outcome }: { wait: Wait; outcome: Outcome }) =>
      call("POST /api/v1/sessions/{sessionId}/waits/{tokenId}", {
        params: { sessionId, tokenId: wait.token_id },
        body: { secret: wait.secret, outcome },
      }),
  })

export const usePatchPrompt = (sessionId: string) =>
  useMutation({
    mutationFn: ({ promptId, ...body }: GivenBody<"PATCH /api/v1/sessions/{sessionId}/queue/{promptId}"> & { promptId: string }) =>
      call("PATCH /api/v1/sessions/{sessionId}/queue/{promptId}", { params: { sessionId, promptId }, body }),
  })

export const useWithdrawPrompt = (sessionId: string) =>
  useMutation({
    mutationFn: (promptId: string) => call("DELETE /api/v1/sessions/{sessionId}/queue/{promptId}", { params: { sessionId, promptId } }),
  })
