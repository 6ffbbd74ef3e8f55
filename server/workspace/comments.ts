import { AppError } from "../../lib/contracts/errors"
import type { CommentSide, CommentsSent, CommentView, CreateComment } from "../../lib/contracts/workspace"
import { type Person, requireSession } from "../auth"
import { insert, remove, updateAny } from "../journal"
import type { ReviewComment } from "../platform/database"
import { ids } from "../platform/ids"
import { commentsPrompt } from "./comments-prompt"
import type { WorkspaceDeps } from "./deps"

/** More drafts than a person reads before sending them. */
const MAX_DRAFTS = 200

const toView = ({ user_id: _, session_id: __, side, ...row }: ReviewComment): CommentView => ({ ...row, side: side as CommentSide })

export async function listComments(deps: WorkspaceDeps, person: Person, sessionId: string): Promise<CommentView[]> {
  const session = await requireSession(deps.db, person, sessionId)
  return readComments(deps, session.id)
}

/** A comment whose message was withdrawn before it was delivered has reached nobody: it is a draft again. */
async function readComments(deps: WorkspaceDeps, sessionId: string): Promise<CommentView[]> {
  const rows = await deps.db.reviewComment.findMany({ where: { session_id: sessionId }, orderBy: [{ created_at: "asc" }, { id: "asc" }] })
  const withdrawn = await deps.db.prompt.findMany({ where: { session_id: sessionId, state: "withdrawn" }, select: { id: true } })
  const takenBack = new Set(withdrawn.map(({ id }) => id))
  return rows.map((row) => toView({ ...row, prompt_id: row.prompt_id !== null && takenBack.has(row.prompt_id) ? null : row.prompt_id }))
}

export async function createComment(deps: WorkspaceDeps, person: Person, sessionId: string, input: CreateComment): Promise<CommentView> {
  const session = await requireSession(deps.db, person, sessionId)
  const drafts = (await readComments(deps, session.id)).filter(isDraft)
  if (drafts.length >= MAX_DRAFTS) {
    throw new AppError("QUEUE_FULL", `${MAX_DRAFTS} comments wait to be sent already.`, { limit: MAX_DRAFTS })
  }
  const now = deps.clock.now().toISOString()
  const row = {
    id: ids.comment(),
    session_id: session.id,
    user_id: person.id,
    ...input,
    created_at: now,
    updated_at: now,
    prompt_id: null,
  }
  await deps.journal.write([insert("review_comments", row)])
  return toView(row)
}

export async function changeComment(
  deps: WorkspaceDeps,
  person: Person,
  sessionId: string,
  commentId: string,
  content: string,
): Promise<CommentView> {
  const comment = await requireDraft(deps, person, sessionId, commentId)
  const updated_at = deps.clock.now().toISOString()
  await deps.journal.write([updateAny("review_comments", { id: comment.id, session_id: sessionId }, { content, updated_at })])
  return { ...comment, content, updated_at }
}

export async function removeComment(deps: WorkspaceDeps, person: Person, sessionId: string, commentId: string): Promise<void> {
  const session = await requireSession(deps.db, person, sessionId)
  await deps.journal.write([remove("review_comments", { id: commentId, session_id: session.id })])
}

const isDraft = ({ prompt_id }: CommentView) => prompt_id === null

async function requireDraft(deps: WorkspaceDeps, person: Person, sessionId: string, commentId: string): Promise<CommentView> {
  const comment = (await listComments(deps, person, sessionId)).find(({ id }) => id === commentId)
  if (!comment) throw new AppError("NOT_FOUND", "There is no such comment.", { entity: "comment" })
  if (!isDraft(comment)) throw new AppError("CONFLICT", "This comment was sent already.", {})
  return comment
}

/** All drafts as one message. They are marked in the commit that queues it: sent and marked, or neither; asked twice, sent once. */
export async function sendComments(deps: WorkspaceDeps, person: Person, sessionId: string, clientMessageId: string): Promise<CommentsSent> {
  const session = await requireSession(deps.db, person, sessionId)
  return deps.sendTurns.run(session.id, async () => {
    const known = await deps.db.prompt.findFirst({ where: { task_id: session.task_id, client_message_id: clientMessageId } })
    if (known) return { prompt_id: known.id, sent: await deps.db.reviewComment.count({ where: { prompt_id: known.id } }) }
    const drafts = (await readComments(deps, session.id)).filter(isDraft)
    if (drafts.length === 0) throw new AppError("CONFLICT", "There are no comments to send.", {})
    const { prompt_id } = await deps.append(person, session.task_id, {
      message: commentsPrompt(drafts),
      session_id: session.id,
      client_message_id: clientMessageId,
      alongside: (promptId) => [updateAny("review_comments", { id: { in: drafts.map(({ id }) => id) } }, { prompt_id: promptId })],
    })
    return { prompt_id, sent: drafts.length }
  })
}
