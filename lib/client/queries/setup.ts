import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect } from "react"
import type { OptionValues, SessionSetup } from "@/lib/contracts/agent-setup"
import { call } from "../api"

export const setupQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ["session-setup", sessionId],
    queryFn: () => call("GET /api/v1/sessions/{sessionId}/setup", { params: { sessionId } }),
  })
/** `setupSeq`: where the log last said something of it. An answer from before that is asked for again, in whatever order they came. */
export function useSetup(sessionId: string, setupSeq: number): SessionSetup | null {
  const { data, isFetching, isError, refetch } = useQuery(setupQuery(sessionId))
  const behind = data !== undefined && data.last_seq < setupSeq
  useEffect(() => {
    if (behind && !isFetching && !isError) void refetch()
  }, [behind, isFetching, isError, refetch])
  return data ?? null
}

/** Shown as chosen at once; what the agent makes of it is told by the log. */
export function useChooseOption(sessionId: string) {
  const client = useQueryClient()
  const { queryKey } = setupQuery(sessionId)
  return useMutation({
    mutationFn: (options: OptionValues) => call("PATCH /api/v1/sessions/{sessionId}/setup", { params: { sessionId }, body: { options } }),
    onMutate: (options) => client.setQueryData(queryKey, (known) => known && { ...known, pending: { ...known.pending, ...options } }),
    onError: () => client.invalidateQueries({ queryKey }),
  })
}
