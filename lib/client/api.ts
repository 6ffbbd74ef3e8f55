import { AppError, fromErrorBody } from "@/lib/contracts/errors"

/** The request never reached the server, or its answer never came back: whether it took effect is unknown. */
export class NetworkError extends Error {
  override readonly name = "NetworkError"
}

type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE"

function request<T>(method: Method, path: string, body?: unknown): Promise<T> {
  return body === undefined ? ask(method, path, null) : ask(method, path, { type: "application/json", content: JSON.stringify(body) })
}

async function ask<T>(method: Method, path: string, body: { type: string; content: BodyInit } | null): Promise<T> {
  const init: RequestInit = { method, credentials: "same-origin", headers: { accept: "application/json" } }
  if (body) {
    init.headers = { accept: "application/json", "content-type": body.type }
    init.body = body.content
  }
  const response = await fetch(path, init).catch((cause: unknown) => {
    throw new NetworkError("The server could not be reached.", { cause })
  })
  const text = await response.text().catch((cause: unknown) => {
    throw new NetworkError("The connection broke off.", { cause })
  })
  const answer = parse(text)
  if (response.ok) return answer as T
  throw fromErrorBody(answer) ?? unknownFailure(response.status)
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

export const getJson = <T>(path: string) => request<T>("GET", path)
export const postJson = <T>(path: string, body: unknown = {}) => request<T>("POST", path, body)
export const postFile = <T>(path: string, file: File, type: string) => ask<T>("POST", path, { type, content: file })
export const patchJson = <T>(path: string, body: unknown) => request<T>("PATCH", path, body)
export const putJson = <T>(path: string, body: unknown) => request<T>("PUT", path, body)
export const deleteJson = (path: string) => request<void>("DELETE", path)
