import type { IncomingMessage } from "node:http"
import type { PtyState } from "../../lib/contracts/agentctl/ptys"
import type { AttachWorker, WorkerExit } from "../../lib/contracts/workers"
import type { Person } from "../auth"
import type { Place } from "../execution"
import { updateAny } from "../journal"
import { executorUnreachable } from "../platform/unavailable-error"
import { requireWorker, type WorkerDeps } from "./deps"
import { requireProcess } from "./manage"
import { ptyOf, raiseProcess } from "./process"

/** Typing keeps a task from expiring; saying so with every key would be a write with every key. */
const ACTIVITY_EVERY_MS = 60_000

type Size = { cols: number; rows: number }
type Ending = Pick<WorkerExit, "exit_code" | "signal" | "reason">

/** One viewer's hold on a worker's process. The reader's pace is the stream's pace: what is not read is not sent. */
export type AttachedWorker = {
  generation: number
  epoch: number
  offset: number
  restored: boolean
  size: Size
  snapshot: Buffer | null
  output: IncomingMessage
  input(bytes: Uint8Array): Promise<void>
  resize(size: Size): Promise<void>
  /** For a viewer that skips: how far the output is now. Null: it cannot be told, or the viewer wants all of it. */
  head(): Promise<number | null>
  /** The screen as it is now, and what comes after it. */
  ahead(): Promise<Ahead>
  /** Why the output ended, asked for when it has. */
  ending(): Promise<Ending>
}
export type Ahead = { epoch: number; offset: number; size: Size; snapshot: Buffer; output: IncomingMessage }

export async function attachWorker(
  deps: WorkerDeps,
  person: Person,
  request: AttachWorker,
  options: { signal: AbortSignal; alone: boolean },
): Promise<AttachedWorker> {
  const { session, worker } = await requireWorker(deps, person, request.session_id, request.worker_id)
  await deps.access.require(person, session.runtime)
  requireProcess(worker.type)
  const place = await deps.reach(session)
  const { client } = place
  const size = request.cols && request.rows ? { cols: request.cols, rows: request.rows } : undefined
  const pty = await raiseProcess(deps, place, worker, { size })
  const resize = async (to: Size) => void (await place.call((epoch) => client.putPtySize(session.id, epoch, worker.id, to)))
  // Whoever comes alone finds the screen in their own size; somebody else's is not taken from them by a look.
  const grows = size && options.alone && (size.cols !== pty.cols || size.rows !== pty.rows)
  if (grows) await resize(size)

  const skip = request.skip ?? false
  const open = async (from: { offset: number } | "snapshot") => {
    const output = await place.call(() => client.openPtyOutput(session.id, worker.id, { from, skip }, options.signal))
    // A stream whose reader went away fails; that must not be anybody's unhandled error.
    output.stream.on("error", () => {})
    return { ...output, snapshot: from === "snapshot" ? await take(output.stream, output.snapshot_bytes) : null }
  }
  const output = await open(request.snapshot ? "snapshot" : { offset: request.offset ?? 0 })

  let told = 0
  return {
    generation: place.executor.generation,
    epoch: output.epoch,
    offset: output.offset,
    restored: pty.restored,
    size: output.snapshot_size ?? (grows ? size : { cols: pty.cols, rows: pty.rows }),
    snapshot: output.snapshot,
    output: output.stream,
    resize,
    async input(bytes) {
      await place.call((epoch) => client.ptyInput(session.id, epoch, worker.id, output.epoch, bytes))
      if (Date.now() - told < ACTIVITY_EVERY_MS) return
      told = Date.now()
      await deps.journal.write([updateAny("tasks", { id: session.task_id }, { last_activity_at: deps.clock.now().toISOString() })])
    },
    head: async () => (skip ? ((await ptyOf(place, worker.id))?.head ?? null) : null),
    async ahead() {
      const { stream, epoch, offset, snapshot, snapshot_size } = await open("snapshot")
      const drawn = snapshot_size ?? { cols: pty.cols, rows: pty.rows }
      return { epoch, offset, size: drawn, snapshot: snapshot ?? Buffer.alloc(0), output: stream }
    },
    ending: () => endingOf(deps, place, worker.id, output.epoch),
  }
}

async function endingOf(deps: WorkerDeps, place: Place, workerId: string, epoch: number): Promise<Ending> {
  const row = await deps.db.worker.findUnique({ where: { id: workerId }, select: { closed_at: true } })
  if (!row || row.closed_at !== null) return { exit_code: null, signal: null, reason: "closed" }
  if (deps.restarting.has(workerId)) return { exit_code: null, signal: null, reason: "restarted" }
  return judgeEnding(await ptyOf(place, workerId).catch(() => null), epoch)
}

/** A stream that ended while its process lives, or with its daemon, was cut off: whoever attaches again misses nothing. Pure. */
export function judgeEnding(pty: Pick<PtyState, "epoch" | "state" | "exit"> | null, epoch: number): Ending {
  if (pty && pty.epoch > epoch) return { exit_code: null, signal: null, reason: "restarted" }
  if (pty?.state === "exited") return { exit_code: pty.exit?.exit_code ?? null, signal: pty.exit?.signal ?? null, reason: "exited" }
  return { exit_code: null, signal: null, reason: "lost" }
}

/** Exactly so many bytes from the front of a stream; the rest stays in it. */
async function take(stream: IncomingMessage, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let missing = bytes
  if (missing === 0) return Buffer.alloc(0)
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, missing))
    if (chunk.length > missing) stream.unshift(chunk.subarray(missing))
    missing -= Math.min(chunk.length, missing)
    if (missing === 0) return Buffer.concat(chunks)
  }
  throw executorUnreachable()
}
