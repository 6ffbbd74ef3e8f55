// Types only: the schemas behind them would add the whole table to every page.
import type { AnswerOf, api, CallName, GivenBody, GivenParams, GivenQuery } from "@/lib/contracts/api"
import { AppError, fromErrorBody } from "@/lib/contracts/errors"
import { noteTrouble } from "./server-trouble"
import { NetworkError, sendFile, sendJson } from "./transport"

/** Answered with a file: the browser, or whoever reads the bytes, asks by `pathOf`. */
type BytesCall = { [K in CallName]: (typeof api)[K] extends { answer: "bytes" } ? K : never }[CallName]

/** What a schema reads from text accepts anything by its type; a client sends text or a number. */
type AsText<T> = { [P in keyof T]: unknown extends T[P] ? string | number : T[P] }
type Nothing = Record<never, never>
type ParamsPart<K extends CallName> = GivenParams<K> extends undefined ? Nothing : { params: AsText<GivenParams<K>> }
type QueryPart<K extends CallName> =
  GivenQuery<K> extends undefined
    ? Nothing
    : Nothing extends GivenQuery<K>
      ? { query?: AsText<GivenQuery<K>> }
      : { query: AsText<GivenQuery<K>> }
type BodyPart<K extends CallName> = GivenBody<K> extends undefined ? Nothing : { body: GivenBody<K> }
/** The file's own type is sent with it. */
type Upload = { file: Blob; headers?: Record<string, string>; onProgress?: (percent: number) => void }
type FilePart<K extends CallName> = (typeof api)[K] extends { upload: string } ? Upload : Nothing

type Address<K extends CallName> = ParamsPart<K> & QueryPart<K>
type Request<K extends CallName> = Address<K> & BodyPart<K> & FilePart<K>
/** May be left out where nothing has to be said. */
type Given<T> = Nothing extends T ? [given?: T] : [given: T]

type AnyAddress = { params?: Record<string, string | number>; query?: Record<string, string | number | boolean | undefined> }
type AnyRequest = AnyAddress & { body?: unknown; file?: Blob; headers?: Record<string, string>; onProgress?: (percent: number) => void }

/** The address of a call, for links and for what reads bytes. */
export const pathOf = <K extends CallName>(name: K, ...[given]: Given<Address<K>>): string => fillPath(name, (given ?? {}) as AnyAddress)

function fillPath(name: string, { params = {}, query = {} }: AnyAddress): string {
  const path = name.slice(name.indexOf(" ") + 1).replace(/\{(\w+)\}/g, (_, param: string) => encodeURIComponent(params[param] ?? ""))
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value))
  return search.size === 0 ? path : `${path}?${search}`
}

/** One call of the API, by its name in the table; what it takes and answers is typed by its entry there. */
export async function call<K extends Exclude<CallName, BytesCall>>(name: K, ...[given]: Given<Request<K>>): Promise<AnswerOf<K>> {
  const { body, file, headers = {}, onProgress, ...address } = (given ?? {}) as AnyRequest
  const request = {
    method: name.slice(0, name.indexOf(" ")),
    path: fillPath(name, address),
    headers: { accept: "application/json", ...headers },
  }
  const { status, text } = await (file
    ? sendFile({ ...request, file, ...(onProgress ? { onProgress } : {}) })
    : sendJson({ ...request, body }))
  const answer = parse(text)
  if (status >= 200 && status < 300) return answer as AnswerOf<K>
  const error = fromErrorBody(answer) ?? unknownFailure(status)
  noteTrouble(error)
  throw error
}

function parse(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A proxy in front of a restarting server answers 502–504 without our body: the same as no answer. */
const unknownFailure = (status: number): Error =>
  status >= 502 && status <= 504
    ? new NetworkError("The server is not answering.")
    : new AppError("INTERNAL", `The server answered ${status}.`, {})
