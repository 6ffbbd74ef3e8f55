import type { IncomingMessage } from "node:http"
import { AgentCommandAnswer, type AskAgentCommand } from "../../lib/contracts/agentctl/agent-file"
import {
  PTY_EPOCH_HEADER,
  PTY_OFFSET_HEADER,
  PTY_SNAPSHOT_HEADER,
  PTY_SNAPSHOT_SIZE_HEADER,
  PtyList,
  PutPtyAnswer,
  type StartPty,
} from "../../lib/contracts/agentctl/ptys"
import type { Transport } from "./agentctl-client"

/** Ending what runs in a terminal, politely and then not, takes its time. */
const PTY_TIMEOUT_MS = 30_000

export type PtyOutput = {
  stream: IncomingMessage
  epoch: number
  offset: number
  snapshot_bytes: number
  /** Null without a snapshot, and from a daemon that does not say. */
  snapshot_size: { cols: number; rows: number } | null
}

/** Terminals: the part of agentctl's client that speaks of them. */
export function ptyCalls({ call, ask, open, path }: Pick<Transport, "call" | "ask" | "open" | "path">) {
  const of = (id: string, workerId: string, ...rest: string[]) => path(id, "ptys", workerId, ...rest)
  const begin = (stream: IncomingMessage): PtyOutput => ({
    stream,
    epoch: numberIn(stream, PTY_EPOCH_HEADER),
    offset: numberIn(stream, PTY_OFFSET_HEADER),
    snapshot_bytes: numberIn(stream, PTY_SNAPSHOT_HEADER),
    snapshot_size: sizeIn(stream),
  })
  return {
    ptys: (id: string) => ask(PtyList, { method: "GET", path: path(id, "ptys") }),
    putPty: (id: string, epoch: number, workerId: string, body: StartPty) =>
      ask(PutPtyAnswer, { method: "PUT", path: of(id, workerId), body, epoch, timeoutMs: PTY_TIMEOUT_MS }),
    askAgentCommand: (id: string, epoch: number, body: AskAgentCommand) =>
      ask(AgentCommandAnswer, {
        ...{ method: "POST", path: path(id, "agent-command"), body, epoch },
        timeoutMs: body.time_limit_ms + PTY_TIMEOUT_MS,
      }),
    removePty: (id: string, epoch: number, workerId: string) =>
      call({ method: "DELETE", path: of(id, workerId), epoch, timeoutMs: PTY_TIMEOUT_MS }),
    /** Ends every process of the session's terminals; their output stays. */
    endPtys: (id: string, epoch: number) => call({ method: "DELETE", path: path(id, "ptys"), epoch, timeoutMs: PTY_TIMEOUT_MS }),
    putPtySize: (id: string, epoch: number, workerId: string, size: { cols: number; rows: number }) =>
      call({ method: "PUT", path: of(id, workerId, "size"), body: size, epoch }),
    ptyInput: (id: string, epoch: number, workerId: string, ptyEpoch: number, bytes: Uint8Array) =>
      call({ method: "POST", path: of(id, workerId, "input"), query: { epoch: ptyEpoch }, bytes, epoch }),
    openPtyOutput: async (
      id: string,
      workerId: string,
      { from, skip }: { from: { offset: number } | "snapshot"; skip: boolean },
      signal: AbortSignal,
    ) => {
      const place = from === "snapshot" ? { snapshot: 1 } : { offset: from.offset }
      return begin(await open({ path: of(id, workerId, "output"), query: { ...place, skip: skip ? 1 : undefined } }, signal))
    },
    openPtyHistory: async (id: string, workerId: string, before: number, limit: number, signal: AbortSignal) =>
      begin(await open({ path: of(id, workerId, "history"), query: { before, limit } }, signal)),
  }
}

function sizeIn(stream: IncomingMessage) {
  const [, cols, rows] = /^(\d+)x(\d+)$/.exec(String(stream.headers[PTY_SNAPSHOT_SIZE_HEADER])) ?? []
  return cols && rows ? { cols: Number(cols), rows: Number(rows) } : null
}
const numberIn = (stream: IncomingMessage, header: string) => Number(stream.headers[header] ?? 0)
