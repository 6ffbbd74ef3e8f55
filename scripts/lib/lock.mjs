// One installer and one builder at a time per checkout: `npm start` and `npm test` may be called together.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { startTimeOf } from "./process-identity.mjs"
import { inProject } from "./project.mjs"

const POLL_MS = 200

/**
 * Runs `work` while no other process of this checkout runs its own; `onWait` hears who holds the lock.
 * `work` is given a function to name each process it starts: one that outlives a killed owner is ended before the lock is taken over.
 */
export async function withLock(onWait, work, folder = inProject(".cache", "prepare.lock")) {
  await acquire(folder, onWait)
  // A step that ends the process must not leave the lock behind; a SIGKILL does, and is recognised by its start time.
  const release = () => {
    if (ownerOf(folder)?.pid === process.pid) rmSync(folder, { recursive: true, force: true })
  }
  process.once("exit", release)
  try {
    return await work((child) => writeFileSync(join(folder, "child.json"), identity(child.pid)))
  } finally {
    process.off("exit", release)
    release()
  }
}

async function acquire(folder, onWait) {
  let told = false
  for (;;) {
    if (tryAcquire(folder)) return
    const owner = ownerOf(folder)
    if (owner === null) continue
    if (!isAlive(owner)) {
      await endChild(folder)
      takeAway(folder, owner)
      continue
    }
    if (!told) onWait(owner.pid)
    told = true
    await sleep(POLL_MS)
  }
}

/** The owner's name is inside before the folder appears: nobody ever sees a lock that belongs to no one. */
function tryAcquire(folder) {
  const mine = `${folder}.${process.pid}`
  rmSync(mine, { recursive: true, force: true })
  mkdirSync(mine, { recursive: true })
  writeFileSync(join(mine, "owner.json"), identity(process.pid))
  try {
    mkdirSync(dirname(folder), { recursive: true })
    renameSync(mine, folder)
    return true
  } catch (error) {
    rmSync(mine, { recursive: true, force: true })
    if (error.code === "ENOTEMPTY" || error.code === "EEXIST") return false
    throw error
  }
}

const identity = (pid) => JSON.stringify({ pid, startTime: startTimeOf(pid) })
const isAlive = ({ pid, startTime }) => startTime !== null && startTimeOf(pid) === startTime
const ownerOf = (folder) => readIdentity(join(folder, "owner.json"))

function readIdentity(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"))
  } catch (error) {
    if (error.code === "ENOENT") return null
    throw error
  }
}

/** Each step leads a group of its own; two installers in one folder would spoil it. */
async function endChild(folder) {
  const child = readIdentity(join(folder, "child.json"))
  if (child === null) return
  while (isAlive(child)) {
    try {
      process.kill(-child.pid, "SIGKILL")
    } catch (error) {
      if (error.code !== "ESRCH") throw error
    }
    await sleep(POLL_MS)
  }
}

/** Two waiters may both find a dead owner; whoever moved a living one's lock puts it back. */
function takeAway(folder, dead) {
  const aside = `${folder}.dead.${process.pid}`
  try {
    renameSync(folder, aside)
  } catch {
    return
  }
  const moved = ownerOf(aside)
  if (moved !== null && (moved.pid !== dead.pid || moved.startTime !== dead.startTime)) {
    renameSync(aside, folder)
    return
  }
  rmSync(aside, { recursive: true, force: true })
}
