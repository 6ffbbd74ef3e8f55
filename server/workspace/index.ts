import { AppError } from "../../lib/contracts/errors"
import type { CreateComment, DiffOf } from "../../lib/contracts/workspace"
import { MAX_UPLOAD_BYTES } from "../../lib/contracts/workspace"
import { type Person, requireSession } from "../auth"
import type { UploadConditions } from "../executors"
import { createKeyedQueue } from "../platform/keyed-queue"
import { ask, askAs, askForWatch } from "./ask"
import { changeComment, createComment, listComments, removeComment, sendComments } from "./comments"
import { fileHeaders } from "./content-type"
import type { WorkspaceDeps } from "./deps"
import { createWatches } from "./watches"

/** A session's files, its changes, and what people write beside them. Each call checks ownership itself. */
export function createWorkspace(given: Omit<WorkspaceDeps, "sendTurns">) {
  const deps: WorkspaceDeps = { ...given, sendTurns: createKeyedQueue() }
  const watches = createWatches({
    logger: deps.logger,
    open: (sessionId, signal) => askForWatch(deps, sessionId, ({ client }) => client.openWatch(sessionId, signal)),
  })
  return {
    folder: (person: Person, sessionId: string, path: string) =>
      ask(deps, person, sessionId, ({ client }) => client.listFolder(sessionId, path)),

    async file(person: Person, sessionId: string, path: string, options: { range: string | null; download: boolean }) {
      const answer = await ask(deps, person, sessionId, ({ client }) => client.openFile(sessionId, path, options.range ?? undefined))
      const passed = ["content-length", "content-range", "accept-ranges", "etag", "last-modified"].flatMap((name) => {
        const value = answer.headers[name]
        return typeof value === "string" ? [[name, value] as const] : []
      })
      return {
        status: answer.statusCode ?? 200,
        headers: { ...fileHeaders(path, options.download), ...Object.fromEntries(passed) },
        content: answer as AsyncIterable<Uint8Array>,
      }
    },

    /** What an agent said that was too large for the log; for as long as its executor is there. */
    async rejected(person: Person, sessionId: string, sha256: string) {
      const content = await ask(deps, person, sessionId, ({ client }) => client.openRejected(sessionId, sha256))
      return { headers: fileHeaders(`${sha256}.txt`, true), content: content as AsyncIterable<Uint8Array> }
    },

    async putFile(person: Person, sessionId: string, path: string, body: AsyncIterable<Uint8Array>, conditions: UploadConditions) {
      if (Number(conditions.content_length ?? 0) > MAX_UPLOAD_BYTES) {
        const message = `A file of at most ${MAX_UPLOAD_BYTES / 1024 / 1024} MB can be uploaded.`
        throw new AppError("PAYLOAD_TOO_LARGE", message, { limit_bytes: MAX_UPLOAD_BYTES })
      }
      const session = await requireSession(deps.db, person, sessionId)
      await deps.access.require(person, session.runtime)
      return askAs(deps, session, ({ client }) => client.putFile(sessionId, session.owner_epoch, path, body, conditions))
    },

    changes: (person: Person, sessionId: string) => ask(deps, person, sessionId, ({ client }) => client.changes(sessionId)),
    fileDiff: (person: Person, sessionId: string, query: { path: string; of: DiffOf; old_path?: string | undefined }) =>
      ask(deps, person, sessionId, ({ client }) => client.fileDiff(sessionId, query)),

    comments: (person: Person, sessionId: string) => listComments(deps, person, sessionId),
    createComment: (person: Person, sessionId: string, input: CreateComment) => createComment(deps, person, sessionId, input),
    changeComment: (person: Person, sessionId: string, commentId: string, content: string) =>
      changeComment(deps, person, sessionId, commentId, content),
    removeComment: (person: Person, sessionId: string, commentId: string) => removeComment(deps, person, sessionId, commentId),
    sendComments: (person: Person, sessionId: string, clientMessageId: string) => sendComments(deps, person, sessionId, clientMessageId),

    /** Calls back whenever something in the workspace changed, until what it answers is called. */
    async watch(person: Person, sessionId: string, listener: () => void): Promise<() => void> {
      const session = await requireSession(deps.db, person, sessionId)
      return watches.add(session.id, listener)
    },
    close: watches.close,
  }
}
export type Workspace = ReturnType<typeof createWorkspace>
