import { statfs } from "node:fs/promises"
import type { AppError } from "../../lib/contracts/errors"
import { DURATIONS } from "../../lib/host/durations"
import { storageError, storageTroubleIn } from "./storage-trouble"

/** Whoever asks within so long of an answer gets the same one: load balancers and pages ask often, and each look costs an fsync. */
const SHARED_MS = 1_000

/**
 * With less than this on a disk it counts as full. A small write may still find room where a message does not, and whoever waits for
 * the disk to be freed would be told again and again that it is.
 */
const LEAST_ROOM_BYTES = 1024 * 1024

type Failure = ReturnType<typeof storageError>
type ProbeDeps = { read: () => Promise<unknown>; write: () => Promise<unknown>; folders: readonly string[] }

/**
 * Whether the database takes reads and writes now, and these folders files; null when they do. One look at a time, and nobody waits longer than its limit: a
 * database that says nothing for so long counts as away until it answers.
 */
export function createStorageProbe({ read, write, folders }: ProbeDeps) {
  let last: { at: number; failure: Failure | null } | null = null
  let running: { since: number; look: Promise<Failure | null> } | null = null

  async function whatFails(): Promise<Failure | null> {
    for (const folder of folders) if (await isFull(folder)) return storageError("full")
    await read()
    await write()
    return null
  }
  async function look(): Promise<Failure | null> {
    const failure = await whatFails().catch((cause: unknown) => storageError(storageTroubleIn(cause) ?? "away", { cause }))
    last = { at: Date.now(), failure }
    running = null
    return failure
  }

  return async (): Promise<AppError | null> => {
    if (last && !running && Date.now() - last.at < SHARED_MS) return last.failure
    running ??= { since: Date.now(), look: look() }
    return within(running.since + DURATIONS.storageProbeMs - Date.now(), running.look)
  }
}

async function isFull(folder: string): Promise<boolean> {
  const { bsize, bavail, bfree } = await statfs(folder)
  // The superuser may also use what a file system keeps back from others.
  return bsize * (process.getuid?.() === 0 ? bfree : bavail) < LEAST_ROOM_BYTES
}

async function within(ms: number, look: Promise<Failure | null>): Promise<Failure | null> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<Failure>((resolve) => {
    timer = setTimeout(() => resolve(storageError("away")), Math.max(0, ms))
  })
  try {
    return await Promise.race([look, silence])
  } finally {
    clearTimeout(timer)
  }
}
