import { z } from "zod"
import { type Changes, DiffOf, FilePath } from "../../lib/contracts/workspace"
import { readFileDiff } from "./changes/file-diff"
import { type CommitCache, readChanges } from "./changes/read-changes"
import { openRepository } from "./changes/repository"
import { streamChanges } from "./changes/watch-workspace"
import { Failure } from "./failure"
import type { PipedGit } from "./git"
import type { Request } from "./routes"
import type { Session } from "./session"
import { listFolder } from "./workspace-files/list-folder"
import { receiveFile } from "./workspace-files/receive-file"
import { sendFile } from "./workspace-files/send-file"

/** A session's files and changes, for people to look at. Nothing here needs an agent, and nothing here disturbs one. */
export class WorkspaceViews {
  private readonly commits: CommitCache = new Map()
  /** At most one reading of the changes at work for a session, and one that waits: whoever asks meanwhile shares that one. */
  private readonly reading = new Map<string, Promise<Changes>>()
  private readonly waiting = new Map<string, Promise<Changes>>()

  constructor(
    private readonly dataDir: string,
    private readonly git: PipedGit,
  ) {}

  /** The call of that name; undefined when it is none of these. */
  find(route: string): ((session: Session, request: Request) => Promise<object | undefined>) | undefined {
    switch (route) {
      case "GET files":
        return (session, { query }) => listFolder(this.rootOf(session), parsePath(query.get("path")))
      case "GET file":
        return async (session, request) => {
          await sendFile(this.rootOf(session), parsePath(request.query.get("path")), request.header("range"), request.response)
          return undefined
        }
      case "GET git/changes":
        return (session) => this.changes(session)
      case "GET git/diff":
        return async (session, { query }) => {
          const of = DiffOf.safeParse(query.get("of"))
          if (!of.success) throw new Failure("INVALID_INPUT", "of: staged, unstaged, untracked or the id of a commit.")
          const oldPath = query.get("old_path")
          const repository = await this.repository(session)
          return readFileDiff(repository, parsePath(query.get("path")), oldPath === null ? null : parsePath(oldPath), of.data)
        }
      case "GET watch":
        return async (session, request) => {
          await this.watch(session, request)
          return undefined
        }
      default:
        return undefined
    }
  }

  /** The body is the file; the caller has been fenced already. */
  receive(session: Session, request: Request): Promise<object> {
    const conditions = { ifMatch: request.header("if-match"), ifNoneMatch: request.header("if-none-match") === "*" }
    return receiveFile(this.rootOf(session), parsePath(request.query.get("path")), conditions, request.message)
  }

  forget(sessionId: string): void {
    this.commits.delete(sessionId)
  }

  private changes(session: Session): Promise<Changes> {
    const { id } = session
    const atWork = this.reading.get(id)
    if (!atWork) return this.read(session)
    const next =
      this.waiting.get(id) ??
      atWork
        .catch(() => undefined)
        .then(() => {
          this.waiting.delete(id)
          return this.read(session)
        })
    this.waiting.set(id, next)
    return next
  }

  private read(session: Session): Promise<Changes> {
    const { id } = session
    const reading = this.repository(session)
      .then((repository) => readChanges(repository, this.commits, id))
      .finally(() => {
        if (this.reading.get(id) === reading) this.reading.delete(id)
      })
    this.reading.set(id, reading)
    return reading
  }

  private async watch(session: Session, request: Request): Promise<void> {
    const git = await this.repository(session).catch((error) => {
      if (error instanceof Failure && error.code === "NO_REPOSITORY") return null
      throw error
    })
    const fingerprint = async () => JSON.stringify(await this.changes(session))
    await streamChanges({ root: this.rootOf(session), git, fingerprint }, request.response)
  }

  private repository(session: Session) {
    const branch = session.workspace?.kind === "worktree" ? session.workspace.branch : null
    return openRepository(this.git, this.dataDir, this.rootOf(session), branch)
  }

  private rootOf(session: Session): string {
    if (!session.workspace) throw new Failure("WORKSPACE_MISSING", "The session has no workspace yet.")
    return session.workspace.path
  }
}

const Path = FilePath.or(z.null().transform(() => ""))

function parsePath(value: string | null): string {
  const path = Path.safeParse(value)
  if (!path.success) throw new Failure("INVALID_INPUT", "path: too long.")
  return path.data
}
