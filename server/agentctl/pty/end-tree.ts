import { setTimeout as delay } from "node:timers/promises"
import { isSameProcess } from "../../../lib/host/process-identity"
import { signalGroup, TERM_GRACE_MS } from "../process-tree"
import { type ProcessEntry, ProcessTable } from "./processes"

const POLL_MS = 20
/** Whatever is started while it is ended is found by the next look; a program that starts itself anew for ever is given up on. */
const LOOKS = 10

/** Ends everything a worker's terminal has started, politely first: also what left its process group or has made a session of its own. */
export async function endTree(dataDir: string, workerKey: string, root: number | null): Promise<void> {
  const tree = async () => (await ProcessTable.read(dataDir)).treeOf(workerKey, root)
  // An interactive shell takes no notice of SIGTERM; a stopped one notices nothing before it is continued.
  const first = await tree()
  if (root !== null) signalGroup(root, "SIGHUP")
  for (const signal of ["SIGHUP", "SIGTERM", "SIGCONT"] as const) send(first, signal)
  const deadline = Date.now() + TERM_GRACE_MS
  while (first.some(isAlive) && Date.now() < deadline) await delay(POLL_MS)
  for (let look = 0; look < LOOKS; look++) {
    // Those seen first may have lost the parent by which they were found.
    const left = [...(await tree()), ...first.filter(isAlive)]
    if (left.length === 0) return
    send(left, "SIGKILL")
    await delay(POLL_MS)
  }
}

const isAlive = ({ pid, start_time }: ProcessEntry): boolean => isSameProcess(pid, start_time)

function send(processes: ProcessEntry[], signal: NodeJS.Signals): void {
  for (const entry of processes) {
    try {
      if (isAlive(entry)) process.kill(entry.pid, signal)
    } catch {
      // Ended meanwhile.
    }
  }
}
