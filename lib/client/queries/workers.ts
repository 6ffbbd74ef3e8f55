import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { CreateWorker, PatchWorker, WorkerDetail, WorkerView } from "@/lib/contracts/workers"
import { deleteJson, getJson, patchJson, postJson } from "../api"

const path = (sessionId: string, workerId?: string) => `/api/v1/sessions/${sessionId}/workers${workerId ? `/${workerId}` : ""}`

export const workersQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ["workers", sessionId],
    queryFn: () => getJson<{ workers: WorkerView[] }>(path(sessionId)).then(({ workers }) => workers),
  })
export const useWorkers = (sessionId: string) => useQuery(workersQuery(sessionId))

export function useOpenWorker(sessionId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: CreateWorker) => postJson<{ worker: WorkerView }>(path(sessionId), input).then(({ worker }) => worker),
    // Its tab must be there before it is chosen.
    onSuccess: (worker) =>
      client.setQueryData(workersQuery(sessionId).queryKey, (known) => [...(known ?? []).filter(({ id }) => id !== worker.id), worker]),
  })
}

export function usePatchWorker(sessionId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...change }: PatchWorker & { id: string }) => patchJson<{ worker: WorkerView }>(path(sessionId, id), change),
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
    mutationFn: (id: string) => deleteJson(path(sessionId, id)),
    onSuccess: (_, id) => client.setQueryData(workersQuery(sessionId).queryKey, (known) => known?.filter((worker) => worker.id !== id)),
  })
}

export const useRestartWorker = (sessionId: string) =>
  useMutation({
    mutationFn: ({ id, goOn }: { id: string; goOn: boolean }) => postJson<unknown>(`${path(sessionId, id)}/restart`, { continue: goOn }),
  })

/** Asked in the moment it matters: before a tab is closed. */
export const describeWorker = (sessionId: string, workerId: string) => getJson<WorkerDetail>(path(sessionId, workerId))

/** Earlier output that ends at `before`; null when there is none. */
export async function readEarlier(sessionId: string, workerId: string, before: number, limit: number) {
  const response = await fetch(`${path(sessionId, workerId)}/history?before=${before}&limit=${limit}`, { credentials: "same-origin" })
  if (!response.ok) throw new Error("Earlier output could not be loaded.")
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { offset: Number(response.headers.get("x-rewake-pty-offset") ?? before - bytes.length), bytes }
}
