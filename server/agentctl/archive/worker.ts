import { parentPort, workerData } from "node:worker_threads"
import { Failure, messageOf } from "../failure"
import { createPipedGit } from "../git"
import { GitFailure } from "../git-failure"
import type { Job, JobMessage } from "./job"
import { packWorkspace } from "./pack"
import { unpackArchive } from "./unpack"

/** Packs or unpacks one archive in a thread of its own: reading files synchronously is fast, and must not stop the daemon's agents. */

const TELL_EVERY_MS = 50

const { job, dataDir } = workerData as { job: Job; dataDir: string }
const post = (message: JobMessage) => parentPort?.postMessage(message)

let toldAt = 0
let toldPhase = ""
function tell(phase: string, progress: object, always = false): void {
  const now = performance.now()
  if (!always && phase === toldPhase && now - toldAt < TELL_EVERY_MS) return
  toldAt = now
  toldPhase = phase
  post({ kind: "progress", phase, progress: { ...progress } as never })
}

const work =
  job.kind === "pack"
    ? packWorkspace(job, createPipedGit(dataDir), (progress) => tell("packing", progress))
    : unpackArchive(job, (phase, progress) => tell(phase, progress))
work.then(
  (result) => post({ kind: "done", result }),
  (error: unknown) => {
    const full = ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "")
    const code = error instanceof Failure ? error.code : full ? "DISK_FULL" : "INTERNAL"
    post({
      kind: "failed",
      code,
      message: full ? "There is no room on the disk." : messageOf(error),
      said: error instanceof GitFailure ? error.said : null,
      stack: error instanceof Failure ? null : String((error as Error).stack),
    })
  },
)
