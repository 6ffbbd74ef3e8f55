import { EPOCH_HEADER } from "../../lib/contracts/agentctl/protocol"
import type { Daemon } from "./daemon"

const at = (daemon: Daemon, id: string, call: string, query: Record<string, string>) =>
  `${daemon.file.endpoint}/sessions/${id}/${call}?${new URLSearchParams(query)}`

export type FileAnswer = { status: number; headers: Headers; bytes: Buffer; body: Record<string, unknown> }

async function answerOf(response: Response): Promise<FileAnswer> {
  const bytes = Buffer.from(await response.arrayBuffer())
  const json = response.headers.get("content-type") === "application/json"
  return { status: response.status, headers: response.headers, bytes, body: json ? JSON.parse(bytes.toString("utf8")) : {} }
}

/** Calls of the daemon whose bodies are files. */
export const fileCalls = (daemon: Daemon, id: string) => ({
  get: async (path: string, headers: Record<string, string> = {}) =>
    answerOf(
      await fetch(at(daemon, id, "file", { path }), {
        headers: { authorization: `Bearer ${daemon.file.secret}`, ...headers },
        signal: AbortSignal.timeout(10_000),
      }),
    ),
  put: async (path: string, content: string | Uint8Array, headers: Record<string, string> = {}) =>
    answerOf(
      await fetch(at(daemon, id, "file", { path }), {
        method: "PUT",
        headers: { authorization: `Bearer ${daemon.file.secret}`, [EPOCH_HEADER]: "1", ...headers },
        body: content as BodyInit,
        signal: AbortSignal.timeout(30_000),
      }),
    ),
  list: <T = Record<string, unknown>>(path: string) => daemon.call<T>("GET", `/sessions/${id}/files?${new URLSearchParams({ path })}`),
  changes: <T = Record<string, unknown>>() => daemon.call<T>("GET", `/sessions/${id}/git/changes`),
  diff: <T = Record<string, unknown>>(path: string, of: string, old_path?: string) =>
    daemon.call<T>("GET", `/sessions/${id}/git/diff?${new URLSearchParams({ path, of, ...(old_path ? { old_path } : {}) })}`),
})
export type FileCalls = ReturnType<typeof fileCalls>
