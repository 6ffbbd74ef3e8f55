import { z } from "zod"
import { AppError, httpStatus, isAppError, toErrorBody } from "../../lib/contracts/errors"
import type { Caller } from "../auth"
import { getServices, type Services } from "../services"
import { bytesOf, readBody } from "./read-body"

type Input<P, B, Q> = {
  services: Services
  caller: Caller
  person: Caller["person"]
  params: P
  body: B
  query: Q
  /** The body as it arrives, for what is too large to be held. */
  stream: () => AsyncIterable<Uint8Array>
  header: (name: string) => string | null
}
type Schemas<P extends z.ZodType, B extends z.ZodType, Q extends z.ZodType> = {
  params?: P
  body?: B
  query?: Q
  status?: number
  admin?: boolean
}
type Handler<P, B, Q> = (input: Input<P, B, Q>) => Promise<unknown>
type Context = { params: Promise<unknown> }

const None = z.unknown()

/** Everything a route does besides its one call: who, what, and how a failure is told. */
export function route<P extends z.ZodType = typeof None, B extends z.ZodType = typeof None, Q extends z.ZodType = typeof None>(
  schemas: Schemas<P, B, Q>,
  handle: Handler<z.infer<P>, z.infer<B>, z.infer<Q>>,
) {
  return (request: Request, context: Context) =>
    respond(request, schemas.status ?? 200, async (services) => {
      const caller = await services.currentUser(credentialsOf(request))
      if (!caller) throw new AppError("UNAUTHENTICATED", "Sign in, or send a bearer token.", {})
      if (schemas.admin && caller.person.role !== "admin") throw new AppError("FORBIDDEN", "Only admins may do this.", {})
      const params = parse(schemas.params ?? None, await context.params) as z.infer<P>
      const query = parse(schemas.query ?? None, Object.fromEntries(new URL(request.url).searchParams)) as z.infer<Q>
      const body = (schemas.body ? parse(schemas.body, await readJson(request, services)) : undefined) as z.infer<B>
      return handle({
        services,
        caller,
        person: caller.person,
        params,
        body,
        query,
        stream: () => bytesOf(request),
        header: (name) => request.headers.get(name),
      })
    })
}

/** For the few routes that exist before anybody can sign in. */
export function openRoute<B extends z.ZodType>(
  schemas: { body: B; status?: number },
  handle: (input: { services: Services; body: z.infer<B> }) => Promise<unknown>,
) {
  return (request: Request) =>
    respond(request, schemas.status ?? 200, async (services) =>
      handle({ services, body: parse(schemas.body, await readJson(request, services)) }),
    )
}

async function respond(request: Request, status: number, work: (services: Services) => Promise<unknown>): Promise<Response> {
  const services = getServices()
  try {
    const result = await work(services)
    if (result instanceof Response) return result
    return status === 204 ? new Response(null, { status, headers: NOT_STORED }) : Response.json(result, { status, headers: NOT_STORED })
  } catch (error) {
    if (isAppError(error)) {
      return errorResponse(error)
    }
    services.logger.error({ err: error, path: new URL(request.url).pathname }, "request failed")
    return Response.json(
      { code: "INTERNAL", message: "Something went wrong on the server. Nothing was half-written." },
      { status: 500, headers: NOT_STORED },
    )
  }
}

/** Answers are somebody's own: no cache between here and their browser may keep one. */
const NOT_STORED = { "cache-control": "no-store" }

export function errorResponse(error: AppError): Response {
  const wait =
    error.code === "RATE_LIMITED" ? { "retry-after": String((error.details as { retry_after_seconds: number }).retry_after_seconds) } : {}
  return Response.json(toErrorBody(error), { status: httpStatus[error.code], headers: { ...NOT_STORED, ...wait } })
}

const credentialsOf = (request: Request) => ({
  authorization: request.headers.get("authorization") ?? undefined,
  cookie: request.headers.get("cookie") ?? undefined,
})

/** Room for JSON's escapes around the largest message that is allowed. */
const ENVELOPE = 6

async function readJson(request: Request, services: Services): Promise<unknown> {
  const limit = services.config.max_message_bytes
  const text = (await readBody(request, { bytes: limit * ENVELOPE, told: limit })).toString("utf8")
  try {
    return text === "" ? {} : JSON.parse(text)
  } catch {
    throw new AppError("INVALID_INPUT", "The body is not JSON.", { issues: ["body: not JSON"] })
  }
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.map((issue) => (issue.path.length > 0 ? `${issue.path.join(".")}: ${issue.message}` : issue.message))
  throw new AppError("INVALID_INPUT", `The request is malformed: ${issues.join("; ")}`, { issues })
}

/** Pulled by the reader, so that a slow one holds the export back instead of filling the memory. */
export function streamOf(content: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = content[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return?.()
    },
  })
}

export const TaskParams = z.object({ taskId: z.coerce.number() })
export const SessionParams = z.object({ sessionId: z.string() })
export const WorkerParams = SessionParams.extend({ workerId: z.string() })
