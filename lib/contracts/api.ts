import { z } from "zod"
import { accountCalls } from "./api/account"
import { adminCalls } from "./api/admin"
import { agentCalls } from "./api/agents"
import type { Call } from "./api/call"
import { sessionCalls } from "./api/sessions"
import { taskCalls } from "./api/tasks"
import { workspaceCalls } from "./api/workspace"

export { type Access, type Call, errorsOf, LIMITS, type LimitName, scopeOf } from "./api/call"

/** What watches the server asks these, whatever name it knows the server by. */
const systemCalls = {
  "GET /api/health": {
    summary: "Get whether the process is alive",
    access: "anyone",
    status: 200,
    answer: z.object({ status: z.string() }),
  },
  "GET /api/ready": {
    summary: "Get whether the server takes requests",
    access: "anyone",
    status: 200,
    answer: z.object({ ready: z.literal(true) }),
  },
  "GET /api/metrics": { summary: "Get figures as Prometheus text", access: "admin", status: 200, answer: "bytes" },
  "GET /api/v1/openapi.json": { summary: "Get this document", access: "anyone", status: 200, answer: z.record(z.string(), z.unknown()) },
} satisfies Record<string, Call>

/** Every call of the API. A test compares it with the routes there are. */
export const api = {
  ...taskCalls,
  ...sessionCalls,
  ...workspaceCalls,
  ...agentCalls,
  ...accountCalls,
  ...adminCalls,
  ...systemCalls,
} satisfies Record<string, Call>

export type CallName = keyof typeof api
type Api = typeof api
type Part<K extends CallName, P extends keyof Call> = Api[K] extends Record<P, infer S> ? S : undefined
type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined
type Given<S> = S extends z.ZodType ? z.input<S> : undefined

/** What a route works with, after parsing. */
export type ParamsOf<K extends CallName> = Parsed<Part<K, "params">>
export type QueryOf<K extends CallName> = Parsed<Part<K, "query">>
export type BodyOf<K extends CallName> = Parsed<Part<K, "body">>
/** What a client sends. */
export type GivenParams<K extends CallName> = Given<Part<K, "params">>
export type GivenQuery<K extends CallName> = Given<Part<K, "query">>
export type GivenBody<K extends CallName> = Given<Part<K, "body">>
/** What is answered. */
export type AnswerOf<K extends CallName> =
  Part<K, "answer"> extends infer S ? (S extends z.ZodType ? z.output<S> : S extends "bytes" ? "bytes" : undefined) : never

export type CallsOf<A extends Call["access"]> = { [K in CallName]: Api[K]["access"] extends A ? K : never }[CallName]

export function callNamed(name: CallName): { call: Call; method: string; path: string } {
  const [method = "", path = ""] = name.split(" ")
  return { call: api[name], method, path }
}
export const callNames = Object.keys(api) as CallName[]
