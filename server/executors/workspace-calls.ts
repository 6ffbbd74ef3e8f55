import { Changes, FileDiff, FileWritten, FolderListing } from "../../lib/contracts/workspace"
import type { Transport } from "./agentctl-client"

/** A comparison of a large tree on a slow disk; the daemon itself gives up before. */
const COMPARE_TIMEOUT_MS = 60_000

export type UploadConditions = { if_match?: string | undefined; if_none_match?: string | undefined; content_length?: string | undefined }

/** Files and changes: the part of agentctl's client that speaks of them. */
export function workspaceCalls({ ask, open, exchange, path }: Pick<Transport, "ask" | "open" | "exchange" | "path">) {
  return {
    listFolder: (id: string, folder: string) => ask(FolderListing, { method: "GET", path: path(id, "files"), query: { path: folder } }),
    changes: (id: string) => ask(Changes, { method: "GET", path: path(id, "git", "changes"), timeoutMs: COMPARE_TIMEOUT_MS }),
    fileDiff: (id: string, query: { path: string; of: string; old_path?: string | undefined }) =>
      ask(FileDiff, { method: "GET", path: path(id, "git", "diff"), query, timeoutMs: COMPARE_TIMEOUT_MS }),
    /** Whole, in part, or 416. */
    openFile: (id: string, file: string, range: string | undefined) =>
      exchange({ method: "GET", path: path(id, "file"), query: { path: file }, headers: range ? { range } : {}, accept: [200, 206, 416] }),
    openRejected: (id: string, sha256: string) => exchange({ method: "GET", path: path(id, "rejected", sha256), accept: [200] }),
    async putFile(id: string, epoch: number, file: string, body: AsyncIterable<Uint8Array>, conditions: UploadConditions) {
      const { if_match, if_none_match, content_length } = conditions
      const headers = {
        ...(if_match === undefined ? {} : { "if-match": if_match }),
        ...(if_none_match === undefined ? {} : { "if-none-match": if_none_match }),
        ...(content_length === undefined ? {} : { "content-length": content_length }),
      }
      const response = await exchange({ method: "PUT", path: path(id, "file"), query: { path: file }, headers, epoch, body, accept: [200] })
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      return FileWritten.parse(JSON.parse(Buffer.concat(chunks).toString("utf8")))
    },
    openWatch: (id: string, signal: AbortSignal) => open({ path: path(id, "watch") }, signal),
  }
}
