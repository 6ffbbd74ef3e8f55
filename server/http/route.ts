import type { z } from "zod"
import {
  type AnswerOf,
  type BodyOf,
  type Call,
  type CallName,
  type CallsOf,
  callNamed,
  type ParamsOf,
  type QueryOf,
  scopeOf,
} from "../../lib/contracts/api"
import { AppError, httpStatus, isAppError, toErrorBody } from "../../lib/contracts/errors"
import type { Trail } from "../audit"
import type { Caller } from "../auth"
import { ADDRESS_HEADER } from "../platform/client-address"
import { unavailableError } from "../platform/unavailable-error"
import { getServices, type Services } from "../services"
import { bytesOf, readBody } from "./read-body"

type Asked<K extends CallName> = {
  services: Services
  params: ParamsOf<K>
  body: BodyOf<K>
  query: QueryOf<K>
  /** The client's network address. */
  address: string
  /** Its entry in the security log: written with the change itself where the change takes it, else after the call. */
  trail: Trail
  /** The body as it arrives, for what is too large to be held. */
  stream: () => AsyncIterable<Uint8Array>
  header: (name: string) => string | null
}
type SignedIn = { caller: Caller; person: Caller["person"] }
/** What a call without an answer returns is not sent. */
type Handled<K extends CallName> = AnswerOf<K> extends "bytes" ? Response : AnswerOf<K> extends undefined ? unknown : AnswerOf<K> | Response
type Context = { params: Promise<unknown> }
type OpenCall = CallsOf<"anyone">
type SignedInCall = Exclude<CallName, OpenCall>

/** Everything a route does besides its one call, as its entry in the API table says: who, what, how often, and how a failure is told. */
export function route<K extends SignedInCall>(name: K, handle: (asked: Asked<K> & SignedIn) => Promise<Handled<K>>) {
  const { call, method } = callNamed(name)
  return (request: Request, context: Context) =>
    respond(request, call, async (services) => {
      const caller = await services.currentUser(credentialsOf(request))
      if (!caller) throw new AppError("UNAUTHENTICATED", "Sign in, or send a bearer token.", {})
      const { person } = caller
      const trail = services.audit.trail(call.audit ?? null, { caller, address: addressOf(request) })
      return audited(trail, async () => {
        if (call.access === "admin" && person.role !== "admin") throw new AppError("FORBIDDEN", "Only admins may do this.", {})
        const scope = scopeOf(method, call)
        if (caller.scopes && !caller.scopes.includes(scope))
          throw new AppError("FORBIDDEN", `This token does not have the scope "${scope}".`, {})
        await services.rateLimits.count(call.limit ?? "ordinary", person.id)
        const asked = await parseRequest<K>(services, request, context, call, trail)
        return handle({ ...asked, caller, person })
      })
    })
}

/** For the calls that anybody may make, signed in or not. */
export function openRoute<K extends OpenCall>(name: K, handle: (asked: Asked<K>) => Promise<Handled<K>>) {
  const { call } = callNamed(name)
  return (request: Request, context: Context) =>
    respond(request, call, async (services) => {
      const address = addressOf(request)
      const trail = services.audit.trail(call.audit ?? null, { caller: null, address })
      return audited(trail, async () => {
        await services.rateLimits.count(call.limit ?? "ordinary", address)
        return handle(await parseRequest<K>(services, request, context, call, trail))
      })
    })
}

async function parseRequest<K extends CallName>(
  services: Services,
  request: Request,
  context: Context,
  call: Call,
  trail: Trail,
): Promise<Asked<K>> {
  const parsed = {
    params: call.params && parse(call.params, await context.params),
    query: call.query && parse(call.query, Object.fromEntries(new URL(request.url).searchParams)),
    body: call.body && parse(call.body, await readJson(request, services)),
  }
  const [target] = Object.values((parsed.params ?? {}) as Record<string, string | number>)
  if (target !== undefined) trail.about(String(target))
  return {
    // The table's own schemas made these; the compiler cannot follow a schema through a variable.
    ...(parsed as Pick<Asked<K>, "params" | "query" | "body">),
    services,
    address: addressOf(request),
    trail,
    stream: () => bytesOf(request),
    header: (name) => request.headers.get(name),
  }
}

/** A refusal is an entry, too; one that the change itself carried is not written again. */
async function audited<T>(trail: Trail, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work()
    await trail.close()
    return result
  } catch (error) {
    if (isAppError(error)) await trail.refused(error)
    throw error
  }
}

async function respond(request: Request, { status }: Call, work: (services: Services) => Promise<unknown>): Promise<Response> {
  const services = getServices()
  try {
    const result = await work(services)
    if (result instanceof Response) {
      if (!result.headers.has("cache-control")) result.headers.set("cache-control", NOT_STORED["cache-control"])
      return result
    }
    return status === 204 ? new Response(null, { status, headers: NOT_STORED }) : Response.json(result, { status, headers: NOT_STORED })
  } catch (error) {
    const path = new URL(request.url).pathname
    const told = isAppError(error) ? error : unavailableError(error)
    if (told && told !== error) services.logger.warn({ err: error, path }, "request failed")
    if (told) return errorResponse(told)
    services.logger.error({ err: error, path }, "request failed")
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

export const addressOf = (request: Request): string => request.headers.get(ADDRESS_HEADER) ?? ""

export const credentialsOf = (request: Request) => ({
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
