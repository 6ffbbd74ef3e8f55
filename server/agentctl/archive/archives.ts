import { existsSync } from "node:fs"
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod"
import { type AgentFile, ArchiveState, type PutArchive, type PutParts, type UploadedPart } from "../../../lib/contracts/agentctl/archive"
import type { WorkspaceSpec } from "../../../lib/contracts/agentctl/protocol"
import { recordChanges } from "../changes/record-changes"
import { openRepository } from "../changes/repository"
import { replaceFile, syncFolder } from "../durable-file"
import { Failure, messageOf } from "../failure"
import type { PipedGit } from "../git"
import { saidByGit } from "../git-failure"
import type { Log } from "../log"
import type { Session } from "../session"
import { CHANGES_ENTRY } from "./archive-format"
import { exportConversations } from "./carried-conversations"
import { findCompression, suffixOf } from "./compress"
import type { RunJob } from "./job"
import type { Missing } from "./left-out"
import type { Packed, Progress } from "./pack"
import { uploadParts } from "./transfer"

/** What lies in the staging folder this long belongs to nobody any more. */
const STAGED_KEPT_MS = 48 * 60 * 60 * 1000

type Packing = { archiveId: string; state: ArchiveState; stop: AbortController; over: Promise<void> }
const PackedRecord = z.object({ archive_id: z.string(), state: ArchiveState })

export interface ArchivesPlace {
  dataDir: string
  git: PipedGit
  runJob: RunJob
  log: Log
}

/** The packing of this daemon's sessions: at most one at a time for each; a newer one takes the older one's place. */
export class Archives {
  private readonly packing = new Map<string, Packing>()
  readonly staging: string

  constructor(private readonly place: ArchivesPlace) {
    this.staging = join(place.dataDir, "staging")
  }

  /** Drafts of a predecessor, and what nobody came for. */
  async clean(): Promise<void> {
    await mkdir(this.staging, { recursive: true, mode: 0o700 })
    for (const name of await readdir(this.staging)) {
      const path = join(this.staging, name)
      const age = Date.now() - ((await stat(path).catch(() => null))?.mtimeMs ?? Date.now())
      if (name.endsWith(".work") || age > STAGED_KEPT_MS) await rm(path, { recursive: true, force: true }).catch(() => undefined)
    }
  }

  async put(session: Session, archiveId: string, body: PutArchive): Promise<ArchiveState> {
    session.requireGeneration(body.generation)
    if (session.isAgentUp()) throw new Failure("AGENT_BUSY", "An agent is up in this session; it is stopped first.")
    const known = this.packing.get(session.id)
    if (known?.archiveId === archiveId && known.state.state === "packing") return known.state
    const done = await this.finished(session, archiveId)
    if (done) return done
    if (known) await this.abandon(session.id)
    // An archive of files that something still writes would be of no moment that ever was.
    await session.ptys.endAll()
    // Two calls may have come here at once: the second joins the first.
    const now = this.packing.get(session.id)
    if (now?.archiveId === archiveId && now.state.state === "packing") return now.state
    const { workspace } = session
    if (!workspace) throw new Failure("WORKSPACE_MISSING", "The session has no workspace here.")
    const packing: Packing = { archiveId, state: blank(), stop: new AbortController(), over: Promise.resolve() }
    this.packing.set(session.id, packing)
    packing.over = this.pack(session, packing, workspace, body)
    return packing.state
  }

  async state(session: Session, archiveId: string): Promise<ArchiveState> {
    const known = this.packing.get(session.id)
    if (known?.archiveId === archiveId) return known.state
    const done = await this.finished(session, archiveId)
    if (!done) throw new Failure("NOT_FOUND", "No such archive was begun here.")
    return done
  }

  async upload(session: Session, archiveId: string, { parts }: PutParts): Promise<{ parts: UploadedPart[] }> {
    const { state, path } = await this.state(session, archiveId)
    if (state !== "packed" || !path) throw new Failure("ARCHIVE_MISSING", "The archive is not packed.")
    return { parts: await uploadParts(path, parts) }
  }

  /** Stops packing and forgets the staging file; an archive in the store's own folder is not ours to remove. */
  async drop(session: Session, archiveId: string): Promise<{ dropped: boolean }> {
    const state = await this.state(session, archiveId).catch(() => null)
    if (!state) return { dropped: false }
    if (this.packing.get(session.id)?.archiveId === archiveId) await this.abandon(session.id)
    if (state.path?.startsWith(`${this.staging}/`)) await rm(state.path, { force: true })
    await rm(session.file("archive.json"), { force: true })
    return { dropped: true }
  }

  /** An agent is about to change the workspace: an archive of it would be of no moment that ever was. */
  async abandon(sessionId: string): Promise<void> {
    const packing = this.packing.get(sessionId)
    if (!packing) return
    packing.stop.abort()
    await packing.over
    if (this.packing.get(sessionId) === packing) this.packing.delete(sessionId)
  }

  private async pack(session: Session, packing: Packing, workspace: WorkspaceSpec, body: PutArchive): Promise<void> {
    const { archiveId } = packing
    const { log, runJob } = this.place
    const work = join(this.staging, `${archiveId}.work`)
    let partial: string | null = null
    try {
      if (!existsSync(workspace.path)) throw new Failure("WORKSPACE_MISSING", "The session's workspace does not exist.")
      const compression = await findCompression()
      const folder = body.folder ?? this.staging
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(folder, `${archiveId}${suffixOf(compression)}`)
      partial = `${path}.partial`
      await rm(work, { recursive: true, force: true })
      await mkdir(work, { recursive: true, mode: 0o700 })
      await rm(partial, { force: true })
      const { agent_session_id, max_bytes } = body
      const inWorkspace = { dataDir: this.place.dataDir, cwd: workspace.path }
      const carried = await exportConversations(body.agent_exports, join(work, "conversations"), inWorkspace)
      const agent_files = [...body.agent_files, ...carried.files]
      const branch = workspace.kind === "worktree" ? workspace.branch : null
      const content = { root: workspace.path, workspace_kind: workspace.kind, branch, agent_session_id, agent_files, max_bytes }
      const { records, missing } = await this.writeRecords(session, workspace, work, packing.stop.signal)
      const left_out = [...carried.failed, ...missing]
      const packed = await runJob<Packed>(
        { kind: "pack", ...content, records, left_out, work, target: partial, compression },
        packing.stop.signal,
        (_, progress) => Object.assign(packing.state, numbers(progress)),
      )
      if (packing.stop.signal.aborted) throw new Failure("AGENT_BUSY", "It was broken off for something newer.")
      await rename(partial, path)
      await syncFolder(folder)
      const { archive_bytes, sha256 } = packed
      const state: ArchiveState = {
        ...packing.state,
        ...numbers(packed),
        ...{ state: "packed", archive_bytes, sha256, path, compression, left_out: packed.left_out },
      }
      await replaceFile(session.file("archive.json"), JSON.stringify({ archive_id: archiveId, state }))
      await rm(work, { recursive: true, force: true })
      Object.assign(packing.state, state)
      log.info("archive.packed", { session_id: session.id, archive_id: archiveId, files: packed.files, bytes: archive_bytes })
    } catch (error) {
      if (partial) await rm(partial, { force: true }).catch(() => undefined)
      await rm(work, { recursive: true, force: true }).catch(() => undefined)
      const failure = error instanceof Failure ? error : new Failure(isFull(error) ? "DISK_FULL" : "INTERNAL", messageOf(error))
      log.warn("archive.failed", {
        session_id: session.id,
        archive_id: archiveId,
        code: failure.code,
        message: failure.message,
        ...saidByGit(error),
      })
      Object.assign(packing.state, { state: "failed", error: { code: failure.code, message: failure.message } })
    }
  }

  /** What the daemon shows of the session without its agent: the changes, and what terminals showed. */
  private async writeRecords(session: Session, workspace: WorkspaceSpec, work: string, signal: AbortSignal) {
    const records: AgentFile[] = []
    const file = join(work, "changes")
    try {
      const branch = workspace.kind === "worktree" ? workspace.branch : null
      const repository = await openRepository(this.place.git, this.place.dataDir, workspace.path, branch)
      await writeFile(file, JSON.stringify(await recordChanges(repository, signal)), { mode: 0o600 })
      records.push({ path: file, as: CHANGES_ENTRY })
    } catch (error) {
      // Pages had none to show either: no repository any more, or one too large to be compared.
      this.place.log.info("archive.changes_not_recorded", { session_id: session.id, message: messageOf(error), ...saidByGit(error) })
    }
    const { written, failed } = await session.ptys.writeForArchive(join(work, "terminals"))
    for (const id of written) records.push({ path: join(work, "terminals", id), as: `terminals/${id}` })
    return { records, missing: failed.map((id): Missing => ({ reason: "terminal_output", path: `terminals/${id}` })) }
  }

  /** Found again after the daemon's own end: the record, and the file it speaks of. */
  private async finished(session: Session, archiveId: string): Promise<ArchiveState | null> {
    try {
      const { archive_id, state } = PackedRecord.parse(JSON.parse(await readFile(session.file("archive.json"), "utf8")))
      if (archive_id !== archiveId || !state.path) return null
      return (await stat(state.path)).size === state.archive_bytes ? state : null
    } catch {
      return null
    }
  }
}

export const isFull = (error: unknown): boolean => ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException)?.code ?? "")

const numbers = ({ bytes, files, total_bytes, total_files }: Progress): Progress => ({ bytes, files, total_bytes, total_files })

const blank = (): ArchiveState => ({
  state: "packing",
  ...{ bytes: 0, files: 0, total_bytes: 0, total_files: 0 },
  ...{ archive_bytes: null, sha256: null, path: null, compression: null },
  left_out: [],
  error: null,
})
