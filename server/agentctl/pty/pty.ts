import { existsSync } from "node:fs"
import { mkdir, rm } from "node:fs/promises"
import type { PtyState, PutPty } from "../../../lib/contracts/agentctl/ptys"
import { killPoint } from "../../../lib/host/kill-point"
import { isSameProcess } from "../../../lib/host/process-identity"
import { Failure, messageOf } from "../failure"
import type { Log } from "../log"
import { endProcesses, recordProcess, signalGroup } from "../process-tree"
import { MAX_SIZES, writeArchivedOutput } from "./archived-output"
import { freshConversations, isThere, judgeTraces, openConversations } from "./conversation"
import { dividerLine, modesReset } from "./divider"
import { endTree } from "./end-tree"
import { isExecutable, terminalEnvironment, userShell } from "./environment"
import { type EpochEnd, Output, type Viewer } from "./output"
import { ProcessWatch } from "./process-watch"
import { ProcessTable, type RunningCommand, workerKey } from "./processes"
import { PtyRecord } from "./pty-record"
import type { Size } from "./screen"
import { ScreenKeeper } from "./screen-keeper"
import { Scrollback } from "./scrollback"
import { type Exit, TerminalProcess } from "./terminal-process"

/** A shell whose daemon was killed has lost its terminal and usually ends by itself. */
const ORPHAN_GRACE_MS = 500

export interface PtyPlace {
  sessionId: string
  workerId: string
  folder: string
  dataDir: string
  /** Its end with the daemon is not seen as an end: the next daemon says what was lost. */
  shuttingDown(): boolean
  log: Log
}

interface Live {
  process: TerminalProcess
  end: EpochEnd
  /** Resolves when its end is recorded and its last output is on disk. */
  over: Promise<void>
}

/** One worker: its output for life, and at most one process at a time. Calls that start or end one come one after the other. */
export class Pty {
  private live: Live | null = null
  private lastEnd: EpochEnd = { offset: null }
  private readonly output: Output
  private readonly screen: ScreenKeeper
  private readonly watch: ProcessWatch
  private readonly key: string

  private constructor(
    private readonly place: PtyPlace,
    private readonly record: PtyRecord,
    private readonly scrollback: Scrollback,
  ) {
    this.key = workerKey(place.sessionId, place.workerId)
    this.screen = new ScreenKeeper({
      folder: place.folder,
      scrollback,
      sizes: () => this.record.facts.sizes,
      answer: (bytes) => void this.live?.process.input(bytes),
      caughtUp: () => this.output.control(),
    })
    this.output = new Output({
      ...{ scrollback, screen: this.screen, log: place.log },
      hold: () => this.live?.process.pause(),
      release: () => this.live?.process.resume(),
      sized: (offset, size) => this.keepSize(offset, size),
      quiet: () => this.keepTitle(),
    })
    this.watch = new ProcessWatch(
      () => void this.recordNow(),
      () => this.output.isWatched,
    )
    this.lastEnd.offset = scrollback.head
  }

  /** With what an earlier daemon has left of it; null when it was never started. */
  static async open(place: PtyPlace): Promise<Pty | null> {
    const record = await PtyRecord.open(place.folder)
    if (!record) return null
    await endOrphan(record)
    return new Pty(place, record, await Scrollback.open(place.folder))
  }

  static async create(place: PtyPlace, type: PutPty["type"]): Promise<Pty> {
    await mkdir(place.folder, { recursive: true, mode: 0o700 })
    return new Pty(place, PtyRecord.blank(place.folder, place.workerId, type), await Scrollback.open(place.folder))
  }

  get isRunning(): boolean {
    return this.live !== null
  }

  /** What is told to run in it is on disk: a daemon killed after that can still say what was lost. */
  async describe(table: ProcessTable): Promise<PtyState> {
    const running = table.running(this.key, this.live?.process.pid ?? null)
    await this.recordRunning(running)
    await this.lookForConversation(table)
    const { facts } = this.record
    const lost = this.live || !facts.process ? [] : facts.running
    return {
      ...{ worker_id: facts.worker_id, type: facts.type, epoch: facts.epoch, cols: facts.cols, rows: facts.rows },
      state: this.live ? "running" : facts.process ? "gone" : "exited",
      pid: this.live?.process.pid ?? null,
      ...{ first: this.scrollback.first, head: this.scrollback.head, epoch_offset: facts.epoch_offset },
      exit: this.live ? null : facts.exit,
      title: this.screen.title ?? facts.title,
      conversation: facts.talk && { ...facts.talk.conversation, unclear: facts.talk.unclear, since: facts.talk.started_at },
      processes: running.map(({ pid, command, cwd, foreground }) => ({ pid, command, cwd, foreground })),
      lost: lost.map(({ pid, start_time, command, cwd, foreground }) => ({
        ...{ command, cwd, foreground },
        alive: isSameProcess(pid, start_time),
      })),
    }
  }

  /** True when a process was started where an earlier one had been. */
  async start(body: PutPty, cwd: string | null): Promise<boolean> {
    if (this.live && !body.restart) return false
    if (!cwd || !existsSync(cwd)) throw new Failure("WORKSPACE_MISSING", "The session's workspace does not exist.")
    const { dataDir, sessionId, workerId } = this.place
    const { command, label } = body.rather.find(({ needs }) => needs.every(isThere)) ?? body
    const { file, args, env } = command ?? { file: userShell(), args: [], env: {} }
    const environment = terminalEnvironment({ dataDir, cwd, sessionId, workerId }, env)
    if (!isExecutable(file, environment.PATH ?? "")) throw new Failure("PTY_START_FAILED", `The command ${file} was not found.`)
    if (body.restart) await this.end()
    const { cols, rows } = body
    const epoch = this.record.facts.epoch + 1
    this.output.size({ cols, rows })
    await this.output.flushed()
    // Also below a process that wrote nothing: without the line, its successor would be taken for it.
    if (epoch > 1 || this.output.head > 0) await this.divide(label)
    killPoint("pty.divided")
    const epoch_offset = this.output.head
    const started_at = Date.now()
    const end: EpochEnd = { offset: null }
    let setOver: () => void = () => undefined
    const over = new Promise<void>((resolve) => {
      setOver = resolve
    })
    let process: TerminalProcess
    try {
      process = new TerminalProcess({
        ...{ file, args, env: environment, cwd, cols, rows },
        onData: (bytes) => {
          this.output.take(bytes)
          this.watch.touched()
        },
        onEnd: (exit) => void this.ended(end, exit).finally(setOver),
      })
    } catch (error) {
      throw error instanceof Failure ? error : new Failure("PTY_START_FAILED", messageOf(error))
    }
    killPoint("pty.spawned")
    this.live = { process, end, over }
    this.lastEnd = end
    const recorded = recordProcess(process.pid) ?? { pid: process.pid, start_time: "" }
    const { type, conversation, traces } = body
    const talk = conversation && { conversation, traces, unclear: false, cwd, started_at }
    await this.record.change({
      ...{ type, cols, rows, epoch, epoch_offset, process: recorded, exit: null, running: [], title: null },
      talk,
    })
    this.screen.title = null
    this.place.log.info("pty.started", { session_id: sessionId, worker_id: workerId, epoch, pid: process.pid })
    return epoch > 1
  }

  async input(epoch: number, bytes: Buffer): Promise<void> {
    if (!this.live || epoch !== this.record.facts.epoch) {
      const { epoch: now } = this.record.facts
      throw new Failure("PTY_GONE", "The process this was typed for has ended.", { epoch: now })
    }
    this.watch.touched()
    await this.live.process.input(bytes)
  }

  resize(size: Size): void {
    const { cols, rows } = this.record.facts
    if (size.cols === cols && size.rows === rows) return
    this.live?.process.resize(size.cols, size.rows)
    void this.save(size)
    this.output.size(size)
  }

  async attach(
    from: number | "snapshot",
    skips: boolean,
  ): Promise<{ epoch: number; viewer: Viewer; snapshot: { bytes: Buffer; size: Size } | null }> {
    this.watch.touched()
    const screen = from === "snapshot" ? await this.screen.get() : null
    // Nothing is awaited from here: the drawing and the bytes after it must meet at one offset.
    const { first, head } = this.scrollback
    const offset = screen ? screen.offset : Math.min(Math.max(from as number, first), head)
    const { epoch } = this.record.facts
    return {
      epoch,
      viewer: this.output.attach(offset, this.lastEnd, skips),
      snapshot: screen && { bytes: screen.snapshot(), size: screen.size },
    }
  }

  async history(before: number, limit: number): Promise<{ offset: number; bytes: Buffer }> {
    const { first, head } = this.scrollback
    const end = Math.min(Math.max(before, first), head)
    const offset = Math.max(first, end - limit)
    const reader = this.scrollback.reader()
    const chunks: Buffer[] = []
    try {
      for (let at = offset; at < end; ) {
        const bytes = await reader.read(at, end - at)
        // Cut while it was read: the caller asks again and is told where it begins now.
        if (!bytes || bytes.length === 0) return this.history(before, limit)
        chunks.push(bytes)
        at += bytes.length
      }
    } finally {
      await reader.close()
    }
    return { offset, bytes: Buffer.concat(chunks) }
  }

  /** What it shows, as a file for an archive. */
  writeForArchive(path: string): Promise<void> {
    const { type, cols, rows, title, sizes } = this.record.facts
    const { first, head } = this.scrollback
    const shown = (this.screen.title ?? title)?.slice(0, 1000) ?? null
    return writeArchivedOutput(path, { type, cols, rows, title: shown, first, sizes }, head, this.scrollback.reader())
  }

  /** Ends the process with everything it and its predecessors started. */
  async end(): Promise<void> {
    const { live } = this
    await this.recordNow()
    this.watch.stop()
    await endTree(this.place.dataDir, this.key, live?.process.pid ?? null)
    if (!live) return
    signalGroup(live.process.pid, "SIGKILL")
    await live.over
  }

  async close(): Promise<void> {
    this.watch.stop()
    await this.output.close()
  }

  async remove(): Promise<void> {
    await this.end()
    await this.close()
    await rm(this.place.folder, { recursive: true, force: true })
  }

  /** The old output ends with its modes off and a line below it; both belong to the stream, so that every viewer sees the same. */
  private async divide(label: string): Promise<void> {
    const screen = await this.screen.get()
    await screen.settled()
    this.output.take(modesReset(screen.isAlternate))
    await this.output.flushed()
    await screen.settled()
    this.output.take(dividerLine(screen.usedRows(), new Date(), label))
    await this.output.flushed()
  }

  private async ended(end: EpochEnd, exit: Exit): Promise<void> {
    await this.output.flushed()
    end.offset = this.output.head
    this.live = null
    this.output.tell()
    const { sessionId, workerId } = this.place
    this.place.log.info("pty.ended", { session_id: sessionId, worker_id: workerId, ...exit })
    if (this.place.shuttingDown()) return
    await this.record.change({ process: null, exit, running: [] }).catch((error) => this.place.log.error("pty.end_not_recorded", error))
  }

  private async recordNow(): Promise<void> {
    if (!this.live) return
    const { process } = this.live
    const table = await ProcessTable.read(this.place.dataDir)
    if (this.live?.process !== process) return
    await this.recordRunning(table.running(this.key, process.pid))
    await this.lookForConversation(table)
  }

  private async lookForConversation(table: ProcessTable): Promise<void> {
    const { talk } = this.record.facts
    if (!talk?.traces) return
    const { conversation, traces, started_at, cwd } = talk
    const { live } = this
    const open = live ? openConversations(table.pidsOf(this.key, live.process.pid), traces) : []
    // While it runs, a new file may be somebody else's, and its own may be still to come.
    const fresh = live || conversation.id !== null ? [] : freshConversations(traces, started_at, cwd)
    const { id, unclear } = judgeTraces(conversation.id, open, fresh)
    if (id !== conversation.id || unclear !== talk.unclear)
      await this.save({ talk: { ...talk, conversation: { ...conversation, id }, unclear } })
  }

  private async recordRunning(running: RunningCommand[]): Promise<void> {
    if (!this.live || JSON.stringify(running) === JSON.stringify(this.record.facts.running)) return
    await this.save({ running })
  }

  private keepSize(offset: number, size: Size): Promise<void> {
    const sizes = [...this.record.facts.sizes.filter((known) => known.offset !== offset), { offset, ...size }].slice(-MAX_SIZES)
    return this.save({ sizes })
  }

  private keepTitle(): void {
    const { title } = this.screen
    if (title !== this.record.facts.title) void this.save({ title })
  }

  /** Not written, it costs a receipt its words; the terminal goes on. */
  private save(part: Parameters<PtyRecord["change"]>[0]): Promise<void> {
    return this.record.change(part).catch((error) => this.place.log.error("pty.not_recorded", error, { session_id: this.place.sessionId }))
  }
}

/** Its terminal is gone with the daemon that held it; what it started in the background and what ignores a hang-up goes on. */
async function endOrphan({ facts }: PtyRecord): Promise<void> {
  const { process: left } = facts
  if (!left || !isSameProcess(left.pid, left.start_time)) return
  signalGroup(left.pid, "SIGHUP")
  await endProcesses([left], ORPHAN_GRACE_MS)
}
