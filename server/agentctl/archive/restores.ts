import { spawn } from "node:child_process"
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { z } from "zod"
import { type PutRestore, RestoreState } from "../../../lib/contracts/agentctl/archive"
import type { WorkspaceSpec } from "../../../lib/contracts/agentctl/protocol"
import { modeForUsers } from "../../../lib/host/umask"
import { replaceFile, syncFolder } from "../durable-file"
import { Failure, messageOf } from "../failure"
import type { PipedGit } from "../git"
import { saidByGit } from "../git-failure"
import type { Log } from "../log"
import type { Session } from "../session"
import type { Workspaces } from "../workspace"
import { placeAgentFiles } from "./agent-files"
import { isFull } from "./archives"
import { importConversations } from "./carried-conversations"
import type { RunJob } from "./job"
import { restoreFolder, restoreWorktree } from "./restore-git"
import { download } from "./transfer"
import type { Unpacked } from "./unpack"

type Restoring = { archiveId: string; state: RestoreState; stop: AbortController; over: Promise<void> }
/** Written just before the folder gets its place: whoever finds the folder and this knows that it is whole. */
const RestoredRecord = z.object({ archive_id: z.string(), state: RestoreState })

const IN_PHASE = { checking: "downloading", unpacking: "unpacking", verifying: "verifying" } as const

export interface RestoresPlace {
  dataDir: string
  workspaces: Workspaces
  git: PipedGit
  runJob: RunJob
  log: Log
}

/** Brings workspaces back. Everything happens in a draft beside the place; one rename makes it the workspace. */
export class Restores {
  private readonly restoring = new Map<string, Restoring>()

  constructor(private readonly place: RestoresPlace) {}

  async put(session: Session, archiveId: string, body: PutRestore): Promise<RestoreState> {
    session.requireGeneration(body.generation)
    if (session.isAgentUp()) throw new Failure("AGENT_BUSY", "An agent is up in this session.")
    const known = this.restoring.get(session.id)
    if (known && isUnderWay(known.state)) {
      if (known.archiveId === archiveId) return known.state
      known.stop.abort()
    }
    await known?.over
    const done = await this.alreadyThere(session, archiveId, body)
    if (done) return done
    const now = this.restoring.get(session.id)
    if (now && now !== known && now.archiveId === archiveId && isUnderWay(now.state)) return now.state
    const restoring: Restoring = { archiveId, state: blank(body.bytes), stop: new AbortController(), over: Promise.resolve() }
    this.restoring.set(session.id, restoring)
    restoring.over = this.restore(session, restoring, body)
    return restoring.state
  }

  async state(session: Session, archiveId: string): Promise<RestoreState> {
    const known = this.restoring.get(session.id)
    if (known?.archiveId === archiveId) return known.state
    const record = await readRecord(session)
    if (record?.archive_id === archiveId && !(await isFree(session.workspace?.path ?? ""))) return record.state
    throw new Failure("NOT_FOUND", "No such restore was begun here.")
  }

  /** The session is about to go. */
  async abandon(sessionId: string): Promise<void> {
    const restoring = this.restoring.get(sessionId)
    restoring?.stop.abort()
    await restoring?.over
    this.restoring.delete(sessionId)
  }

  private async restore(session: Session, restoring: Restoring, body: PutRestore): Promise<void> {
    const { log } = this.place
    const { archiveId, state } = restoring
    const draft = draftOf(body.workspace)
    try {
      const file = await this.obtain(restoring, body)
      await this.clear(draft, body.workspace)
      await mkdir(draft, { recursive: true, mode: 0o700 })
      const unpacked = await this.place.runJob<Unpacked>(
        {
          ...{ kind: "unpack", file, sha256: body.sha256, bytes: body.bytes, max_bytes: body.max_bytes },
          ...{ draft, home: body.workspace.path, folder_mode: modeForUsers(0o755) },
        },
        restoring.stop.signal,
        (phase, progress) => Object.assign(state, { ...progress, state: IN_PHASE[phase as keyof typeof IN_PHASE] }),
      )
      const { agent_session_id, left_out } = unpacked
      Object.assign(state, { ...numbers(unpacked), state: "verifying", agent_session_id, left_out })
      state.notes = await this.restoreGit(draft, body)
      await flushToDisk(draft)
      placeAgentFiles(join(draft, "agent"), body.agent_files)
      await session.takeWorkspace(body.generation, body.workspace, unpacked.agent_session_id, () =>
        this.moveIn(session, restoring, draft, body),
      )
      state.notes.push(...(await this.importInto(body)))
      await this.clear(draft, body.workspace)
      await rm(this.downloadFile(archiveId), { force: true })
      // Told last: whoever hears it finds the session as after a PUT, and nothing lying about.
      state.state = "restored"
      log.info("archive.restored", { session_id: session.id, archive_id: archiveId, files: unpacked.files })
    } catch (error) {
      await this.clear(draft, body.workspace).catch(() => undefined)
      const failure = error instanceof Failure ? error : new Failure(isFull(error) ? "DISK_FULL" : "INTERNAL", messageOf(error))
      if (failure.code === "CHECKSUM_MISMATCH") await rm(this.downloadFile(archiveId), { force: true })
      log.warn("restore.failed", {
        session_id: session.id,
        archive_id: archiveId,
        code: failure.code,
        message: failure.message,
        ...saidByGit(error),
      })
      if (failure.code === "URL_EXPIRED") state.state = "needs_url"
      else Object.assign(state, { state: "failed", error: { code: failure.code, message: failure.message } })
    }
  }

  private async obtain({ archiveId, state, stop }: Restoring, { source, bytes }: PutRestore): Promise<string> {
    if (source.kind === "url") {
      const file = this.downloadFile(archiveId)
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await download(source.url, file, bytes, stop.signal, (have) => {
        state.bytes = have
      })
      return file
    }
    if (!(await stat(source.path).catch(() => null))?.isFile()) throw new Failure("ARCHIVE_MISSING", "The archive's file does not exist.")
    return source.path
  }

  private async restoreGit(draft: string, { workspace: spec, git_credential }: PutRestore): Promise<string[]> {
    const { git, workspaces } = this.place
    if (spec.kind === "folder") return restoreFolder(git, draft)
    await workspaces.prepareRepository(spec, git_credential)
    return workspaces.exclusively(spec, () => restoreWorktree(git, draft, spec))
  }

  /** The one moment: before it there is nothing, after it the finished workspace. */
  private async moveIn(session: Session, restoring: Restoring, draft: string, { workspace }: PutRestore): Promise<void> {
    if (restoring.stop.signal.aborted) throw new Failure("AGENT_BUSY", "It was broken off for something newer.")
    if (!(await isFree(workspace.path))) throw exists()
    await session.ptys.placeArchived(join(draft, "terminals"))
    const done: RestoreState = { ...restoring.state, state: "restored" }
    await replaceFile(session.file("restore.json"), JSON.stringify({ archive_id: restoring.archiveId, state: done }))
    await rename(join(draft, "workspace"), workspace.path).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "ENOTEMPTY" || error.code === "EEXIST" || error.code === "ENOTDIR" ? exists() : error
    })
    await syncFolder(dirname(workspace.path))
  }

  private async alreadyThere(session: Session, archiveId: string, body: PutRestore): Promise<RestoreState | null> {
    if (await isFree(body.workspace.path)) return null
    const record = await readRecord(session)
    if (record?.archive_id !== archiveId) throw exists()
    // Killed after the rename: what should have followed it is done now.
    record.state.notes.push(...(await this.importInto(body)))
    await this.clear(draftOf(body.workspace), body.workspace)
    await rm(this.downloadFile(archiveId), { force: true })
    await session.takeWorkspace(body.generation, body.workspace, record.state.agent_session_id, async () => undefined)
    return record.state
  }

  /** An agent's own database takes a conversation for the folder it is told in, so that the workspace must be in its place by then. */
  private importInto({ workspace, agent_imports }: PutRestore): Promise<string[]> {
    const inWorkspace = { dataDir: this.place.dataDir, cwd: workspace.path }
    return importConversations(agent_imports, join(draftOf(workspace), "agent"), inWorkspace)
  }

  private async clear(draft: string, spec: WorkspaceSpec): Promise<void> {
    await rm(draft, { recursive: true, force: true })
    if (spec.kind === "worktree") await this.place.workspaces.forgetCutShort(spec, draft)
  }

  private downloadFile(archiveId: string): string {
    return join(this.place.dataDir, "staging", `${archiveId}.download`)
  }
}

const draftOf = (spec: WorkspaceSpec): string => `${spec.path}.restoring`
const isUnderWay = ({ state }: RestoreState): boolean => state === "downloading" || state === "unpacking" || state === "verifying"
const exists = () => new Failure("WORKSPACE_EXISTS", "There is a workspace already; it was left as it is.")

async function readRecord(session: Session) {
  try {
    return RestoredRecord.parse(JSON.parse(await readFile(session.file("restore.json"), "utf8")))
  } catch {
    return null
  }
}

/** Nothing there, or an empty folder. What cannot be looked at is not free. */
async function isFree(path: string): Promise<boolean> {
  try {
    return (await readdir(path)).length === 0
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT"
  }
}

/** One call for the whole file system instead of one per file: after a power loss the rename must not lead to empty files. */
function flushToDisk(path: string): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn("sync", ["-f", path], { stdio: "ignore" })
    child.on("error", () => resolve())
    child.on("close", () => resolve())
  })
}

const numbers = ({ bytes, files, total_bytes, total_files }: Unpacked) => ({ bytes, files, total_bytes, total_files })

const blank = (bytes: number): RestoreState => ({
  state: "downloading",
  ...{ bytes: 0, total_bytes: bytes, files: 0, total_files: 0 },
  agent_session_id: null,
  notes: [],
  left_out: [],
  error: null,
})
