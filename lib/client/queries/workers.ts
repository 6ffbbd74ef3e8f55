import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { CreateWorker, PatchWorker } from "@/lib/contracts/workers"
import { call, pathOf } from "../api"

export const workersQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ["workers", sessionId],
    queryFn: () => call("GET /api/v1/sessions/{sessionId}/workers", { params: { sessionId } }).then(({ workers }) => workers),
  })
export const useWorkers = (sessionId: string) => useQuery(workersQuery(sessionId))

export function useOpenWorker(sessionId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: CreateWorker) =>
      call("POST /api/v1/sessions/{sessionId}/workers", { params: { sessionId }, body }).then(({ worker }) => worker),
    // Its tab must be there before it is chosen.
    onSuccess: (worker) =>
      client.setQueryData(workersQuery(sessionId).queryKey, (known) => [...(known ?? []).filter(({ id }) => id !== worker.id), worker]),
  })
}

export function usePatchWorker(sessionId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...body }: PatchWorker & { id: string }) =>
      call("PATCH /api/v1/sessions/{sessionId}/workers/{workerId}", { params: { sessionId, workerId: id }, body }),
    onMutate: ({ id, name }) =>
      client.setQueryData(workersQuery(sessionId).queryKey, (known) =>
        known?.map((worker) => (worker.id === id && name !== undefined ? { ...worker, name } : worker)),
      ),
    onSettled: () => client.invalidateQueries(workersQuery(sessionId)),
  })
}

export function useCloseWorker(sessionId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => call("DELETE /api/v1/sessions/{sessionId}/workers/{workerId}", { params: { sessionId, workerId: id } }),
    onSuccess: (_, id) => client.setQueryData(workersQuery(sessionId).queryKey, (known) => known?.filter((worker) => worker.id !== id)),
  })
}

export const useRestartWorker = (sessionId: string) =>
  useMutation({
    mutationFn: ({ id, goOn }: { id: string; goOn: boolean }) =>
      call("POST /api/v1/sessions/{sessionId}/workers/{workerId}/restart", {
        params: { sessionId, workerId: id },
        body: { continue: goOn },
      }),
  })

/** Asked in the moment it matters: before a tab is closed. */
export const describeWorker = (sessionId: string, workerId: string) =>
  call("GET /api/v1/sessions/{sessionId}/workers/{workerId}", { params: { sessionId, workerId } })

/** Earlier output that ends at `before`; null when there is none. */
export async function readEarlier(sessionId: string, workerId: string, before: number, limit: number) {
  const which = { params: { sessionId, workerId }, query: { before, limit } }
  const path = pathOf("GET /api/v1/sessions/{sessionId}/workers/{workerId}/history", which)
  const response = await fetch(path, { credentials: "same-origin" })
  if (!response.ok) throw new Error("Earlier output could not be loaded.")
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { offset: Number(response.headers.get("x-rewake-pty-offset") ?? before - bytes.length), bytes }
}
