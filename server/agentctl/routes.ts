import type { ServerResponse } from "node:http"
import { z } from "zod"
import { EPOCH_HEADER, type Health, PutAck, PutAgent, PutPermission, PutPrompt, PutSession } from "../../lib/contracts/agentctl/protocol"
import { Failure } from "./failure"
import { SESSION_ID, type Sessions } from "./sessions"
import { streamEvents } from "./stream-events"

export interface Request {
  method: string
  path: string[]
  query: URLSearchParams
  header(name: string): string | undefined
  body(): Promise<unknown>
  response: ServerResponse
}

/** What a route answers with; undefined when it has written the response itself. */
type Answer = object | undefined

export interface RouteContext {
  sessions: Sessions
  health(): Health
  shutDown(): void
}

const Cancel = z.object({ run_id: z.string() })
const After = z.coerce.number().int().min(0)
const PromptId = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/)

/** One call, one line: parse, fence, act. */
export async function answer(context: RouteContext, request: Request): Promise<Answer> {
  const [root, id, part, item, ...rest] = request.path
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
  return answerForSession(context, request, id, `${method} ${part ?? ""}${item === undefined ? "" : "/*"}`, item ?? "")
}

async function answerForSession({ sessions }: RouteContext, request: Request, id: string, route: string, item: string): Promise<Answer> {
  if (route === "GET ") return (await sessions.find(id)).describe()
  if (route === "GET events") {
    const after = parse(After, request.query.get("after") ?? "0")
    await streamEvents((await sessions.find(id)).spool, after, request.query.get("spool_id"), request.response)
    return undefined
  }
  if (route === "PUT ") return (await sessions.put(id, epochOf(request), parse(PutSession, await request.body()))).describe()
  if (route === "DELETE ") return sessions.delete(id, epochOf(request))

  const change = CHANGES[route]
  if (!change) throw notFound()
  const epoch = epochOf(request)
  const body = route.startsWith("DELETE") ? undefined : await request.body()
  const session = await sessions.find(id)
  await session.fence(epoch)
  return change(session, body, item)
}

type Found = Awaited<ReturnType<Sessions["find"]>>
const CHANGES: Record<string, (session: Found, body: unknown, item: string) => Promise<Answer>> = {
  "PUT agent": (session, body) => session.startAgent(parse(PutAgent, body)),
  "DELETE agent": async (session) => {
    await session.stopAgent()
    return session.describe()
  },
  "PUT prompts/*": (session, body, item) => session.prompt(parse(PromptId, item), parse(PutPrompt, body)),
  "POST cancel": (session, body) => session.cancel(parse(Cancel, body).run_id),
  "PUT permissions/*": async (session, body, item) => ({
    outcome: await session.answerPermission(item, parse(PutPermission, body).outcome),
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
