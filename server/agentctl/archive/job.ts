import { Worker } from "node:worker_threads"
import type { DaemonErrorCode } from "../../../lib/contracts/agentctl/protocol"
import { Failure } from "../failure"
import { GitFailure } from "../git-failure"
import type { Packed, PackJob, Progress } from "./pack"
import type { Unpacked, UnpackJob } from "./unpack"

export type Job = ({ kind: "pack" } & PackJob) | ({ kind: "unpack" } & UnpackJob)
export type JobMessage =
  | { kind: "progress"; phase: string; progress: Progress }
  | { kind: "done"; result: Packed | Unpacked }
  | { kind: "failed"; code: DaemonErrorCode; message: string; said: string | null; stack: string | null }

/** Buffers are outside it; what is inside is small, and a runaway must not take the daemon's memory with it. */
const HEAP_MB = 48

export type RunJob = <R extends Packed | Unpacked>(
  job: Job,
  signal: AbortSignal,
  heard: (phase: string, progress: Progress) => void,
) => Promise<R>

/** `program` is the bundled worker beside the daemon's own. */
export function createJobRunner(program: URL, dataDir: string, unexpected: (error: string) => void): RunJob {
  return <R extends Packed | Unpacked>(job: Job, signal: AbortSignal, heard: (phase: string, progress: Progress) => void) =>
    new Promise<R>((resolve, reject) => {
      const worker = new Worker(program, { workerData: { job, dataDir }, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } })
      const stop = () => void worker.terminate()
      signal.addEventListener("abort", stop, { once: true })
      if (signal.aborted) stop()
      worker.on("message", (message: JobMessage) => {
        if (message.kind === "progress") return heard(message.phase, message.progress)
        if (message.kind === "done") resolve(message.result as R)
        else {
          if (message.stack) unexpected(message.stack)
          const { code, said } = message
          reject(said === null ? new Failure(code, message.message) : new GitFailure(code, message.message, said))
        }
      })
      worker.on("error", (error) => reject(error))
      worker.on("exit", () => {
        signal.removeEventListener("abort", stop)
        reject(new Failure("AGENT_BUSY", "It was broken off for something newer."))
      })
    })
}
