import type { IncomingMessage, ServerResponse } from "node:http"
import { z } from "zod"
import { AskAgentCommand } from "../../lib/contracts/agentctl/agent-file"
import { PutArchive, PutParts, PutRestore } from "../../lib/contracts/agentctl/archive"
import {
  AttachmentName,
  EPOCH_HEADER,
  type Health,
  PutAck,
  PutAgent,
  PutGeneration,
  PutOptions,
  PutPermission,
  PutPrompt,
  PutSession,
} from "../../lib/contracts/agentctl/protocol"
import { PTY_HISTORY_MAX_BYTES, PTY_INPUT_MAX_BYTES, PutPty, PutPtySize } from "../../lib/contracts/agentctl/ptys"
import { ATTACHMENT_MAX_BYTES } from "../../lib/contracts/attachments"
import { ArchiveId, PermissionId, PromptId, SESSION_ID, Sha256, WorkerId } from "../../lib/contracts/ids"
import { askAgentCommand } from "./agent-command"
import type { Archives } from "./archive/archives"
import type { Restores } from "./archive/restores"
import { Failure } from "./failure"
import { sendHistory, streamOutput } from "./pty/output-stream"
import type { Sessions } from "./sessions"
import { streamEvents } from "./stream-events"
import { sendFile } from "./workspace-files/send-file"
import type { WorkspaceViews } from "./workspace-routes"

export interface Request {
  method: string
  path: string[]
  query: URLSearchParams
  header(name: string): string | undefined
  body(): Promise<unknown>
  /** The body as it is, refused above `limit`. */
  bytes(limit: number): Promise<Buffer>
  /** For a body that is read as it comes. */
  message: IncomingMessage
  response: ServerResponse
}

/** What a route answers with; undefined when it has written the response itself. */
type Answer = object | undefined

export interface RouteContext {
  sessions: Sessions
  archives: Archives
  restores: Restores
  workspaceViews: WorkspaceViews
  dataDir: string
  health(): Health
  shutDown(): void
}

const Cancel = z.object({ run_id: z.string() })
const After = z.coerce.number().int().min(0)
const HistoryLimit = z.coerce.number().int().min(1).max(PTY_HISTORY_MAX_BYTES)

/** One call, one line: parse, fence, act. */
export async function answer(context: RouteContext, request: Request): Promise<Answer> {
  const [root, id, part, item, detail, ...rest] = request.path
  const { method } = request
  if (rest.length > 0) throw notFound()
  if (id === undefined) {
    if (method === "GET" && root === "health") return context.health()
    if (method === "GET" && root === "capabilities") return { supports_session_resume: true, supports_workspace_only: true }
    if (method === "POST" && root === "shutdown") return shutDown(context)
    if (method === "GET" && root === "sessions") return context.sessions.list()
    throw notFound()
  }
  if (root !== "sessions") throw notFound()
  if (!SESSION_ID.test(id)) throw new Failure("INVALID_INPUT", "That is no session id.")
  const route = `${method} ${part ?? ""}${item === undefined ? "" : "/*"}${detail === undefined ? "" : `/${detail}`}`
  return answerForSession(context, request, id, route, item ?? "")
}

async function answerForSession(context: RouteContext, request: Request, id: string, route: string, item: string): Promise<Answer> {
  const { sessions, archives, restores, workspaceViews } = context
  if (route === "GET ") return (await sessions.find(id)).describe()
  if (route === "GET events") {
    const after = parse(After, request.query.get("after") ?? "0")
    await streamEvents((await sessions.find(id)).spool, after, request.query.get("spool_id"), request.response)
    return undefined
  }
  if (route === "PUT ") return (await sessions.put(id, epochOf(request), parse(PutSession, await request.body()))).describe()
  if (route === "DELETE ") {
    const epoch = epochOf(request)
    const generation = request.query.get("generation")
    return sessions.delete(id, epoch, generation === null ? null : parse(After, generation), async () => {
      await archives.abandon(id)
      await restores.abandon(id)
      workspaceViews.forget(id)
    })
  }
  const look = workspaceViews.find(route === "GET git/*" ? `GET git/${item}` : route)
  if (look) return look(await sessions.find(id), request)
  if (route === "PUT file") {
    const session = await sessions.find(id)
    await session.fence(epochOf(request))
    return workspaceViews.receive(session, request)
  }
  if (route === "GET archive/*") return archives.state(await sessions.find(id), parse(ArchiveId, item))
  if (route === "GET restore/*") return restores.state(await sessions.find(id), parse(ArchiveId, item))
  if (route === "PUT restore/*") {
    const body = parse(PutRestore, await request.body())
    return restores.put(await sessions.enter(id, epochOf(request)), parse(ArchiveId, item), body)
  }
  if (route === "GET rejected/*") {
    const file = await (await sessions.find(id)).rejected.find(parse(Sha256, item))
    if (!file) throw new Failure("PATH_MISSING", "Nothing of that name was kept.")
    await sendFile(file.folder, file.name, request.header("range"), request.response)
    return undefined
  }
  if (route === "GET ptys") return { ptys: await (await sessions.find(id)).ptys.list() }
  if (route === "GET ptys/*/output") {
    const from = request.query.has("snapshot") ? "snapshot" : parse(After, request.query.get("offset") ?? "0")
    const skips = request.query.has("skip")
    await streamOutput(await (await sessions.find(id)).ptys.find(item), { from, skips }, request.response)
    return undefined
  }
  if (route === "GET ptys/*/history") {
    const [before, limit] = [request.query.get("before"), request.query.get("limit") ?? PTY_HISTORY_MAX_BYTES]
    const pty = await (await sessions.find(id)).ptys.find(item)
    await sendHistory(pty, parse(After, before), parse(HistoryLimit, limit), request.response)
    return undefined
  }

  const change = CHANGES[route]
  if (!change) throw notFound()
  const epoch = epochOf(request)
  const limit = BYTES[route]
  const body = route.startsWith("DELETE") ? undefined : await (limit === undefined ? request.body() : request.bytes(limit))
  const session = await sessions.find(id)
  await session.fence(epoch)
  return change(session, body, item, context, request.query)
}

const TYPED = "POST ptys/*/input"
const ATTACHED = "PUT attachments/*"
/** Their body is what was typed or attached, and so large at most; all others are JSON. */
const BYTES: Record<string, number> = { [TYPED]: PTY_INPUT_MAX_BYTES, [ATTACHED]: ATTACHMENT_MAX_BYTES }
type Found = Awaited<ReturnType<Sessions["find"]>>
type Change = (session: Found, body: unknown, item: string, context: RouteContext, query: URLSearchParams) => Promise<Answer>
const CHANGES: Record<string, Change> = {
  "PUT agent": async (session, body, _, { archives }) => {
    const agent = parse(PutAgent, body)
    await archives.abandon(session.id)
    return session.startAgent(agent)
  },
  "PUT archive/*": (session, body, item, { archives }) => archives.put(session, parse(ArchiveId, item), parse(PutArchive, body)),
  "PUT archive/*/parts": (session, body, item, { archives }) => archives.upload(session, parse(ArchiveId, item), parse(PutParts, body)),
  "DELETE archive/*": (session, _, item, { archives }) => archives.drop(session, parse(ArchiveId, item)),
  "DELETE agent": async (session) => {
    await session.stopAgent()
    return session.describe()
  },
  "PUT generation": async (session, body) => {
    await session.raiseGeneration(parse(PutGeneration, body).generation)
    return session.describe()
  },
  "POST agent-command": async (session, body, _, { dataDir }) => {
    const asked = parse(AskAgentCommand, body)
    if (!session.workspace) throw new Failure("WORKSPACE_MISSING", "The session has no workspace here.")
    return askAgentCommand(asked, { dataDir, cwd: session.workspace.path })
  },
  "PUT ptys/*": async (session, body, item, { archives }) => {
    const [workerId, pty] = [parse(WorkerId, item), parse(PutPty, body)]
    await archives.abandon(session.id)
    return session.ptys.put(workerId, pty, session.workspace?.path ?? null)
  },
  "PUT ptys/*/size": async (session, body, item) => {
    const size = parse(PutPtySize, body)
    ;(await session.ptys.find(item)).resize(size)
    return size
  },
  [TYPED]: async (session, body, item, _, query) => {
    await (await session.ptys.find(item)).input(parse(After, query.get("epoch")), body as Buffer)
    return {}
  },
  "DELETE ptys": async (session) => {
    await session.ptys.endAll()
    return {}
  },
  "DELETE ptys/*": (session, _, item) => session.ptys.remove(parse(WorkerId, item)),
  [ATTACHED]: async (session, body, item, _, query) => {
    await session.keepAttachment({ sha256: parse(Sha256, item), name: parse(AttachmentName, query.get("name")) }, body as Buffer)
    return {}
  },
  "PUT prompts/*": (session, body, item) => session.prompt(parse(PromptId, item), parse(PutPrompt, body)),
  "POST cancel": (session, body) => session.cancel(parse(Cancel, body).run_id),
  "PUT options": async (session, body) => ({ refused: await session.setOptions(parse(PutOptions, body).options) }),
  "PUT permissions/*": async (session, body, item) => ({
    outcome: await session.answerPermission(parse(PermissionId, item), parse(PutPermission, body).outcome),
  }),
  "PUT ack": async (session, body) => {
    const { spool_id, n } = parse(PutAck, body)
    session.ack(spool_id, n)
    return { acked: n }
  },
}

function epochOf(request: Request): number {
  const header = request.header(EPOCH_HEADER)
  const epoch = z.coerce.number().int().min(0).safeParse(header)
  if (header === undefined || header === "" || !epoch.success)
    throw new Failure("INVALID_INPUT", `A changing call carries the header ${EPOCH_HEADER}.`)
  return epoch.data
}

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new Failure("INVALID_INPUT", `${issue?.path.join(".") || "The body"}: ${issue?.message ?? "not valid"}`)
}

function shutDown(context: RouteContext): Answer {
  context.shutDown()
  return { ending: true }
}

const notFound = () => new Failure("NOT_FOUND", "No such address.")
