import { z } from "zod"
import { type Call, callNamed, callNames, errorsOf, LIMITS, scopeOf } from "../../lib/contracts/api"
import { type ErrorCode, httpStatus } from "../../lib/contracts/errors"

const BASE = "/api/v1"

/** The published contract, made from the API table: what is published is what is checked. */
export function openApiDocument(publicUrl: string) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const name of callNames) {
    const { call, method, path } = callNamed(name)
    const isVersioned = path.startsWith(BASE)
    const shown = isVersioned ? path.slice(BASE.length) : path
    const elsewhere = isVersioned ? {} : { servers: [{ url: publicUrl }] }
    paths[shown] = { ...paths[shown], [method.toLowerCase()]: { ...operation(call, method, path), ...elsewhere } }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Rewake",
      version: "1",
      description: "Programs send an API token as bearer; browsers a cookie. Errors are `{code, message}` with details of their code.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: `${publicUrl}${BASE}` }],
    security: [{ bearer: [] }],
    tags: [...new Set(callNames.map((name) => tagOf(callNamed(name).path)))].sort().map((name) => ({ name })),
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: { Failure: schemaOf(Failure, "output") },
    },
    paths,
  }
}

const Failure = z.object({ code: z.string(), message: z.string() })
const schemaOf = (schema: z.ZodType, io: "input" | "output") => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { unrepresentable: "any", io })
  return rest
}
const json = (schema: unknown) => ({ content: { "application/json": { schema } } })
const bytes = (type: string) => ({ content: { [type]: { schema: { type: "string", format: "binary" } } } })

function operation(call: Call, method: string, path: string) {
  const limit = LIMITS[call.limit ?? "ordinary"]
  const answer = call.answer === "bytes" ? bytes("application/octet-stream") : call.answer ? json(schemaOf(call.answer, "output")) : {}
  return {
    operationId: operationId(method, path),
    tags: [tagOf(path)],
    summary: call.summary,
    description: `${accessWords(call, method)} At most ${limit.calls} calls in ${limit.seconds} s.`,
    ...(call.access === "anyone" ? { security: [] } : {}),
    parameters: [...parametersOf(call.params, "path"), ...parametersOf(call.query, "query")],
    ...(call.body ? { requestBody: { required: true, ...json(schemaOf(call.body, "input")) } } : {}),
    ...(call.upload ? { requestBody: { required: true, ...bytes(call.upload) } } : {}),
    responses: { [call.status]: { description: call.summary, ...answer }, ...failures(errorsOf(call)) },
  }
}

function accessWords(call: Call, method: string): string {
  if (call.access === "anyone") return "Open to anybody."
  const scope = `A token needs the scope \`${scopeOf(method, call)}\`.`
  if (call.access === "admin") return `For admins. ${scope}`
  return call.access === "runner"
    ? `For users who may run agents in the session's runtime. ${scope}`
    : `For every user, about what is theirs. ${scope}`
}

function parametersOf(schema: z.ZodType | undefined, place: "path" | "query") {
  const { properties = {}, required = [] } = schema ? schemaOf(schema, "input") : {}
  return Object.entries(properties).map(([name, of]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    // What a number is read from is text; its schema has no type of its own.
    schema: typeof of === "object" && Object.keys(of).length > 0 ? of : { type: "string" },
  }))
}

/** One answer per status: several codes may share it. */
function failures(codes: readonly ErrorCode[]) {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) byStatus.set(httpStatus[code], [...(byStatus.get(httpStatus[code]) ?? []), code])
  return Object.fromEntries(
    [...byStatus].map(([status, of]) => [status, { description: of.join(", "), ...json({ $ref: "#/components/schemas/Failure" }) }]),
  )
}

/** `GET /api/v1/sessions/{sessionId}/queue` → `getSessionsSessionIdQueue`: unique, because method and path are. */
function operationId(method: string, path: string): string {
  const words = path.replace(/^\/api(\/v1)?/, "").match(/[a-z0-9]+/gi) ?? []
  return method.toLowerCase() + words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("")
}
const tagOf = (path: string) => /^\/api\/(?:v1\/)?([\w-]+)/.exec(path)?.[1] ?? "system"
