import type { PtyState, PutPtyAnswer } from "../../lib/contracts/agentctl/ptys"
import { AppError } from "../../lib/contracts/errors"
import { killPoint } from "../../lib/host/kill-point"
import type { Place } from "../execution"
import type { Worker } from "../platform/database"
import { refOf, type WorkerDeps } from "./deps"

type Size = { cols: number; rows: number }
/** What a terminal is before anybody has said how large theirs is. */
const DEFAULT_SIZE: Size = { cols: 80, rows: 24 }

/** What the daemon has of this worker; null when nothing was ever started in it. */
export const ptyOf = async ({ client, session }: Place, workerId: string): Promise<PtyState | null> =>
  (await client.ptys(session.id)).ptys.find((pty) => pty.worker_id === workerId) ?? null

/**
 * Sees to it that a worker has a process: the one that lives, else a new one in its place. However many ask at once, the daemon
 * starts one and tells one of them that it did; that one writes it down.
 */
export async function raiseProcess(
  deps: WorkerDeps,
  place: Place,
  worker: Worker,
  options: { size?: Size | undefined; restart?: { continue: boolean } },
): Promise<PutPtyAnswer> {
  const { client, session } = place
  const before = await place.call(() => ptyOf(place, worker.id))
  // An agent that never ran in this tab has no conversation to go on with.
  const goOn = before !== null && (options.restart?.continue ?? true)
  const command = worker.type === "agent" ? await agentCommand(deps, worker, goOn) : null
  const size = options.size ?? (before ? { cols: before.cols, rows: before.rows } : DEFAULT_SIZE)
  const pty = await place.call((epoch) =>
    client.putPty(session.id, epoch, worker.id, {
      type: worker.type === "agent" ? "agent" : "terminal",
      command,
      ...size,
      restart: options.restart !== undefined,
      label: worker.type === "agent" ? (goOn ? "conversation continued" : "new conversation") : "new shell",
    }),
  )
  killPoint("worker.raised")
  await endIfClosed(deps, place, worker)
  if (pty.restored) await noteRestored(deps, place, pty, before)
  return pty
}

/** Closed while its process was being started: whoever closed it found none to end. */
async function endIfClosed(deps: WorkerDeps, { client, session, call }: Place, worker: Worker): Promise<void> {
  const row = await deps.db.worker.findUnique({ where: { id: worker.id }, select: { closed_at: true } })
  if (row?.closed_at === null) return
  await call((epoch) => client.removePty(session.id, epoch, worker.id))
  throw new AppError("NOT_FOUND", "There is no such terminal.", { entity: "worker" })
}

const agentCommand = async (deps: WorkerDeps, worker: Worker, goOn: boolean) =>
  (await deps.agents.requireTerminal(worker.agent ?? "")).terminal({ continue: goOn })

async function noteRestored(deps: WorkerDeps, { session }: Place, { worker_id, epoch }: PutPtyAnswer, before: PtyState | null) {
  const lost = (before?.lost ?? []).filter((process) => !process.alive).map((process) => process.command)
  await deps.journal.commit({ session: refOf(session), events: [{ kind: "worker.restored", worker_id, epoch, lost }] })
}
