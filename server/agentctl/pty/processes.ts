import { readFileSync, readlinkSync } from "node:fs"
import { setImmediate } from "node:timers/promises"
import { quoted } from "../../../lib/host/shell"
import { listPids, marksOf } from "../process-tree"

/** Read in one go; a machine may have thousands, and a key that is typed meanwhile must not wait for all of them. */
const AT_A_TIME = 16

export interface ProcessEntry {
  pid: number
  parent: number
  group: number
  session: number
  /** The group that has the terminal's keyboard. */
  foreground: number
  start_time: string
}

export interface RunningCommand {
  pid: number
  start_time: string
  command: string
  cwd: string | null
  foreground: boolean
}

let bootId: string | null = null
const known = new Map<string, string | null>()

/** All processes of this machine, with the worker each belongs to by its environment. Linux only; empty elsewhere. */
export class ProcessTable {
  private constructor(
    private readonly entries: Map<number, ProcessEntry>,
    private readonly workers: Map<number, string>,
  ) {}

  static async read(dataDir: string): Promise<ProcessTable> {
    const entries = new Map<number, ProcessEntry>()
    const workers = new Map<number, string>()
    const seen = new Set<string>()
    const pids = listPids()
    for (let i = 0; i < pids.length; i++) {
      if (i % AT_A_TIME === AT_A_TIME - 1) await setImmediate()
      const entry = readEntry(pids[i] as number)
      if (!entry) continue
      entries.set(entry.pid, entry)
      const key = `${entry.pid} ${entry.start_time}`
      seen.add(key)
      const worker = known.get(key) ?? readWorker(entry.pid, dataDir)
      // A process this daemon has just forked still has the daemon's own environment.
      if (worker !== null || entry.parent !== process.pid) known.set(key, worker)
      if (worker) workers.set(entry.pid, worker)
    }
    // Two may read at once: what the other has just met stays.
    for (const key of known.keys()) if (!seen.has(key) && !entries.has(Number(key.split(" ")[0]))) known.delete(key)
    return new ProcessTable(entries, workers)
  }

  get(pid: number): ProcessEntry | undefined {
    return this.entries.get(pid)
  }

  /** Everything a worker's terminal has started, wherever it went: by mark, by descent, by session. */
  treeOf(workerKey: string, root: number | null): ProcessEntry[] {
    const inside = new Map<number, boolean>()
    const belongs = (pid: number): boolean => {
      const cached = inside.get(pid)
      if (cached !== undefined) return cached
      const entry = this.entries.get(pid)
      if (!entry || pid === process.pid) return false
      inside.set(pid, false)
      const own = pid === root || entry.session === root || this.workers.get(pid) === workerKey
      // One that gave away its environment and lost its parent is still in the session of one that is known.
      const result = own || [entry.parent, entry.session, entry.group].some(belongs)
      inside.set(pid, result)
      return result
    }
    return [...this.entries.values()].filter((entry) => belongs(entry.pid))
  }

  pidsOf = (workerKey: string, root: number): number[] => this.treeOf(workerKey, root).map(({ pid }) => pid)

  /** What a person would say runs there: one line for each job, the shell itself left out. */
  running(workerKey: string, root: number | null): RunningCommand[] {
    const shell = root === null ? undefined : this.entries.get(root)
    const tree = this.treeOf(workerKey, root).filter((entry) => entry.pid !== root && entry.group !== shell?.group)
    const jobs = byGroup(tree)
    const ownWords = shell ? wordsOf(shell.pid).join("\0") : null
    return [...jobs.values()].flatMap((job) => this.describe(job, ownWords, shell?.foreground))
  }

  private describe(job: ProcessEntry[], shellWords: string | null, foreground: number | undefined): RunningCommand[] {
    const inJob = new Set(job.map((entry) => entry.pid))
    let top = job.filter((entry) => !inJob.has(entry.parent)).sort((a, b) => a.pid - b.pid)
    // A part of the shell that runs a list in the background has the shell's own words; what it runs says more.
    const isCopy = (entry: ProcessEntry) => wordsOf(entry.pid).join("\0") === shellWords
    for (let depth = 0; depth < 5 && top.some(isCopy); depth++) {
      top = top.flatMap((entry) => (isCopy(entry) ? job.filter((child) => child.parent === entry.pid) : [entry]))
    }
    const command = top.map((entry) => commandLine(wordsOf(entry.pid))).filter((line) => line !== "")
    const [first] = top
    if (!first || command.length === 0) return []
    const { pid, start_time, group } = first
    return [{ pid, start_time, command: command.join(" | "), cwd: folderOf(pid), foreground: group === foreground }]
  }
}

/** As it would be typed again. */
export const commandLine = (words: string[]): string => words.map(quoted).join(" ")

function byGroup(entries: ProcessEntry[]): Map<number, ProcessEntry[]> {
  const groups = new Map<number, ProcessEntry[]>()
  for (const entry of entries) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry])
  return groups
}

/** Null when it has ended meanwhile; a zombie has. */
function readEntry(pid: number): ProcessEntry | null {
  try {
    bootId ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The command name may hold spaces and brackets; the fields start after its last bracket.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    if (fields[0] === "Z" || fields[0] === "X") return null
    const [parent, group, session, , foreground] = fields.slice(1, 6).map(Number) as [number, number, number, number, number]
    return { pid, parent, group, session, foreground, start_time: `${bootId}:${fields[19]}` }
  } catch {
    return null
  }
}

const readWorker = (pid: number, dataDir: string): string | null => {
  const marks = marksOf(pid, dataDir)
  return marks?.worker_id ? workerKey(marks.session_id, marks.worker_id) : null
}

export const workerKey = (sessionId: string, workerId: string): string => `${sessionId}/${workerId}`

function wordsOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/cmdline`, "utf8").replace(/\0+$/, "")
    // Nothing is left of one that is just ending.
    return text === "" ? [] : text.split("\0")
  } catch {
    return []
  }
}

function folderOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return null
  }
}
