import type { AttachWorker, CreateWorker, PatchWorker } from "../../lib/contracts/workers"
import type { Person } from "../auth"
import { createKeyedQueue } from "../platform/keyed-queue"
import { attachWorker } from "./attach"
import { createCloser } from "./close"
import type { WorkerDeps } from "./deps"
import { readHistory } from "./history"
import { changeWorker, describeWorker, listWorkers, openWorker, restartWorker } from "./manage"

export type { Ahead, AttachedWorker } from "./attach"

/** The tabs of a session and what runs in them. Each call checks ownership itself. */
export function createWorkers(given: Omit<WorkerDeps, "turns" | "restarting">) {
  const deps: WorkerDeps = { ...given, turns: createKeyedQueue(), restarting: new Set() }
  const closer = createCloser(deps)
  return {
    list: (person: Person, sessionId: string) => listWorkers(deps, person, sessionId),
    open: (person: Person, sessionId: string, input: CreateWorker) => openWorker(deps, person, sessionId, input),
    describe: (person: Person, sessionId: string, workerId: string) => describeWorker(deps, person, sessionId, workerId),
    change: (person: Person, sessionId: string, workerId: string, change: PatchWorker) =>
      changeWorker(deps, person, sessionId, workerId, change),
    restart: (person: Person, sessionId: string, workerId: string, restart: { continue: boolean }) =>
      restartWorker(deps, person, sessionId, workerId, restart),
    close: (person: Person, sessionId: string, workerId: string) => closer.close(person, sessionId, workerId),
    history: (person: Person, sessionId: string, workerId: string, page: { before: number; limit: number }) =>
      readHistory(deps, person, sessionId, workerId, page),
    attach: (person: Person, request: AttachWorker, options: { signal: AbortSignal; alone: boolean }) =>
      attachWorker(deps, person, request, options),
    stop: () => closer.stop(),
  }
}
export type Workers = ReturnType<typeof createWorkers>
