import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import type { DaemonSession, PutSession } from "../../lib/contracts/agentctl/protocol"
import { SESSION_ID } from "../../lib/contracts/ids"
import { Failure } from "./failure"
import type { Log } from "./log"
import { findMarked, type MarkedProcess } from "./process-tree"
import { PromptLedger } from "./prompt-ledger"
import { Ptys } from "./pty/ptys"
import { RejectedFiles } from "./rejected-files"
import { createKeyedSerial } from "./serial"
import { Session } from "./session"
import { FactsFile, readFacts } from "./session-facts"
import { SessionManager } from "./session-manager"
import { Spool, type SpoolLimits } from "./spool"
import type { Workspaces } from "./workspace"

/** Sessions opened at once when many are asked for; each may read its whole spool. */
const OPEN_AT_ONCE = 4

/** All sessions of this folder. Each is opened when it is first needed, by itself: one that cannot be opened holds up no other. */
export class Sessions {
  private readonly open = new Map<string, Promise<Session>>()
  private readonly known = new Set<string>()
  private readonly perSession = createKeyedSerial()
  private readonly folder: string
  private strays: MarkedProcess[] = []
  private shuttingDown = false

  constructor(
    private readonly dataDir: string,
    private readonly limits: SpoolLimits,
    private readonly workspaces: Workspaces,
    private readonly log: Log,
  ) {
    this.folder = join(dataDir, "sessions")
  }

  /** Finds what is on disk; ends what a predecessor left running, in the background. */
  async adopt(): Promise<void> {
    for (const name of await readdir(this.folder)) {
      const id = /^(.+)\.(state\.json|messages\.jsonl)$/.exec(name)?.[1]
      if (id && SESSION_ID.test(id)) this.known.add(id)
    }
    this.strays = findMarked(this.dataDir)
    if (this.strays.length > 0) this.log.warn("predecessor.processes_found", { count: this.strays.length })
    void inParallel([...this.known], async (id) => {
      try {
        const facts = await readFacts(this.file(id, "state.json"), id)
        if (facts === null || facts.agent || this.strays.some((p) => p.session_id === id)) await this.find(id)
      } catch (error) {
        this.log.error("session.not_opened", error, { session_id: id })
      }
    })
  }

  get count(): number {
    return this.known.size
  }

  find(id: string): Promise<Session> {
    if (!this.known.has(id)) throw new Failure("NOT_FOUND", "No such session here.")
    return this.load(id)
  }

  put(id: string, epoch: number, body: PutSession): Promise<Session> {
    return this.perSession(id, async () => {
      const session = await this.admit(id, epoch)
      await session.put(body)
      return session
    })
  }

  /** For a restore: a session this daemon may never have heard of, without a workspace yet. */
  enter(id: string, epoch: number): Promise<Session> {
    return this.perSession(id, () => this.admit(id, epoch))
  }

  /**
   * Ends agent, terminals and whatever `before` ends, then removes the session's files; its folder goes to the trash if Rewake made it.
   * Repeating it changes nothing. With a generation it is refused once a newer one was seen: the session has come back since.
   */
  delete(
    id: string,
    epoch: number,
    generation: number | null,
    before: () => Promise<void>,
  ): Promise<{ deleted: boolean; workspace_discarded: boolean }> {
    return this.perSession(id, async () => {
      if (!this.known.has(id)) return { deleted: false, workspace_discarded: false }
      const session = await this.load(id)
      await session.fence(epoch)
      if (generation !== null) session.requireGeneration(generation)
      await before()
      await session.ptys.endAll()
      await session.close()
      const discarded = await session.discardWorkspace()
      for (const name of await readdir(this.folder)) {
        if (name.startsWith(`${id}.`)) await rm(join(this.folder, name), { recursive: true, force: true })
      }
      this.known.delete(id)
      this.open.delete(id)
      return { deleted: true, workspace_discarded: discarded }
    })
  }

  async list(): Promise<DaemonSession[]> {
    const described: DaemonSession[] = []
    await inParallel([...this.known].sort(), async (id) => {
      try {
        described.push((await this.find(id)).describe())
      } catch (error) {
        this.log.error("session.not_opened", error, { session_id: id })
      }
    })
    return described.sort((a, b) => (a.session_id < b.session_id ? -1 : 1))
  }

  async shutDown(): Promise<void> {
    this.shuttingDown = true
    await Promise.allSettled(
      [...this.open.values()].map(async (opening) => {
        const session = await opening
        await session.close()
      }),
    )
  }

  private async admit(id: string, epoch: number): Promise<Session> {
    if (this.shuttingDown) throw new Failure("INTERNAL", "The daemon is ending.")
    const session = await this.load(id)
    this.known.add(id)
    await session.fence(epoch)
    return session
  }

  private load(id: string): Promise<Session> {
    const opened = this.open.get(id)
    if (opened) return opened
    const opening = this.openSession(id)
    this.open.set(id, opening)
    // A disk that was full or a folder not yet mounted may be there at the next call.
    opening.catch(() => this.open.delete(id))
    return opening
  }

  private async openSession(id: string): Promise<Session> {
    const { dataDir, workspaces, log } = this
    const strays = this.strays.filter((p) => p.session_id === id)
    const facts = await FactsFile.open(this.file(id, "state.json"), id)
    const rejected = new RejectedFiles(this.file(id, "rejected"))
    const spool = await Spool.open(this.file(id, "messages.jsonl"), id, this.limits, rejected, log)
    const ledger = await PromptLedger.open(this.file(id, "prompts.jsonl"), spool.prompts)
    if (ledger.isDamaged) log.warn("ledger.damaged", { session_id: id })
    const shuttingDown = () => this.shuttingDown
    const manager = new SessionManager(this.folder, id)
    const ptys = new Ptys({ sessionId: id, dataDir, shuttingDown, log })
    const session = new Session({ id, dataDir, facts, spool, rejected, ledger, manager, ptys, workspaces, strays, shuttingDown, log })
    await session.endPredecessor()
    return session
  }

  private file(id: string, suffix: string): string {
    return join(this.folder, `${id}.${suffix}`)
  }
}

async function inParallel<T>(items: T[], job: (item: T) => Promise<unknown>): Promise<void> {
  const queue = [...items]
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await job(item)
  }
  await Promise.all(Array.from({ length: OPEN_AT_ONCE }, worker))
}
