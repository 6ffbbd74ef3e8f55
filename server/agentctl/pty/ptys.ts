import { mkdir, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import type { PtyState, PutPty, PutPtyAnswer } from "../../../lib/contracts/agentctl/ptys"
import { WORKER_ID } from "../../../lib/contracts/ids"
import { Failure } from "../failure"
import type { Log } from "../log"
import { createKeyedSerial } from "../serial"
import { placeArchivedOutput } from "./archived-output"
import { ProcessTable } from "./processes"
import { Pty } from "./pty"

interface PtysPlace {
  sessionId: string
  dataDir: string
  shuttingDown(): boolean
  log: Log
}

/** The terminals of one session, each opened when it is first asked for. */
export class Ptys {
  private readonly open = new Map<string, Promise<Pty | null>>()
  private readonly perWorker = createKeyedSerial()
  private readonly folder: string

  constructor(private readonly place: PtysPlace) {
    this.folder = join(place.dataDir, "sessions", `${place.sessionId}.ptys`)
  }

  async list(): Promise<PtyState[]> {
    const ids = (await readdir(this.folder).catch(() => [])).filter((name) => WORKER_ID.test(name)).sort()
    const ptys = await Promise.all(ids.map((id) => this.load(id)))
    const table = await ProcessTable.read(this.place.dataDir)
    return Promise.all(ptys.filter((pty) => pty !== null).map((pty) => pty.describe(table)))
  }

  /** One that lives is left alone; two callers at once get the same one. */
  put(workerId: string, body: PutPty, cwd: string | null): Promise<PutPtyAnswer> {
    return this.perWorker(workerId, async () => {
      if (this.place.shuttingDown()) throw new Failure("INTERNAL", "The daemon is ending.")
      const pty = (await this.load(workerId)) ?? (await this.create(workerId, body.type))
      const restored = await pty.start(body, cwd)
      return { ...(await pty.describe(await ProcessTable.read(this.place.dataDir))), restored }
    })
  }

  async find(workerId: string): Promise<Pty> {
    const pty = WORKER_ID.test(workerId) ? await this.load(workerId) : null
    if (!pty) throw new Failure("NOT_FOUND", "No such terminal here.")
    return pty
  }

  /** Repeating it changes nothing. */
  remove(workerId: string): Promise<{ removed: boolean }> {
    return this.perWorker(workerId, async () => {
      const pty = await this.load(workerId)
      this.open.delete(workerId)
      await pty?.remove()
      return { removed: pty !== null }
    })
  }

  /** Ends every process of them, also jobs that outlived their terminals; the output stays. */
  async endAll(): Promise<void> {
    const ids = (await readdir(this.folder).catch(() => [])).filter((name) => WORKER_ID.test(name))
    await Promise.all(ids.map((id) => this.perWorker(id, async () => (await this.load(id))?.end())))
  }

  /** What each of them shows, as a file named by its worker, for an archive; those that cannot be read are named. */
  async writeForArchive(folder: string): Promise<{ written: string[]; failed: string[] }> {
    const ids = (await readdir(this.folder).catch(() => [])).filter((name) => WORKER_ID.test(name)).sort()
    const written: string[] = []
    const failed: string[] = []
    if (ids.length > 0) await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const id of ids) {
      try {
        await (await this.find(id)).writeForArchive(join(folder, id))
        written.push(id)
      } catch {
        await rm(join(folder, id), { force: true })
        failed.push(id)
      }
    }
    return { written, failed }
  }

  /** What an archive holds of them, before anybody asks for one. */
  placeArchived(unpacked: string): Promise<void> {
    return placeArchivedOutput(unpacked, this.folder)
  }

  /** With the daemon: what runs is ended, what is open is closed. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.open.keys()].map((id) =>
        this.perWorker(id, async () => {
          const pty = await this.load(id)
          if (pty?.isRunning) await pty.end()
          await pty?.close()
        }),
      ),
    )
    this.open.clear()
  }

  private load(workerId: string): Promise<Pty | null> {
    const opened = this.open.get(workerId)
    if (opened) return opened
    const opening = Pty.open(this.placeOf(workerId))
    this.open.set(workerId, opening)
    const forget = () => this.open.get(workerId) === opening && this.open.delete(workerId)
    // One that is not there may be made; a disk that was full may have room at the next call.
    opening.then((pty) => pty ?? forget(), forget)
    return opening
  }

  private async create(workerId: string, type: PutPty["type"]): Promise<Pty> {
    const pty = await Pty.create(this.placeOf(workerId), type)
    this.open.set(workerId, Promise.resolve(pty))
    return pty
  }

  private placeOf(workerId: string) {
    return { ...this.place, workerId, folder: join(this.folder, workerId) }
  }
}
