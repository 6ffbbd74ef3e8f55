import { closeSync, openSync, readdirSync, readlinkSync, readSync, realpathSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import type { AgentFile } from "../../../lib/contracts/agentctl/agent-file"
import type { ConversationTraces } from "../../../lib/contracts/agentctl/ptys"
import { listAgentFiles } from "../archive/agent-files"

/** A file system's clock may be a tick behind ours. */
const TICK_MS = 50
/** An agent that says in a file where it was begun says so at its start. */
const HEAD_BYTES = 4096

export const isThere = (file: AgentFile): boolean => listAgentFiles([file]).files.length > 0

/**
 * Which conversation a program is in. The one it has open, for a person may have begun another inside it; else the one that is known;
 * else the only new one. Of several, none is taken: the wrong conversation is worse than none. Pure.
 */
export function judgeTraces(
  known: string | null,
  open: readonly string[],
  fresh: readonly string[],
): { id: string | null; unclear: boolean } {
  if (open.length === 1) return { id: open[0] as string, unclear: false }
  if (known !== null) return { id: known, unclear: false }
  if (open.length === 0 && fresh.length === 1) return { id: fresh[0] as string, unclear: false }
  return { id: null, unclear: open.length > 1 || fresh.length > 1 }
}

/** Linux only; elsewhere nothing is seen. */
export function openConversations(pids: readonly number[], { folder, name }: ConversationTraces): string[] {
  const inside = `${orNull(() => realpathSync(folder)) ?? folder}/`
  const found = new Set<string>()
  for (const pid of pids) {
    for (const fd of orNull(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
      const path = orNull(() => readlinkSync(`/proc/${pid}/fd/${fd}`))
      const id = path?.startsWith(inside) ? idIn(path, name) : null
      if (id) found.add(id)
    }
  }
  return [...found]
}

/** Those begun in this folder since then. */
export function freshConversations({ folder, name }: ConversationTraces, since: number, cwd: string): string[] {
  const paths = orNull(() => readdirSync(folder, { recursive: true, encoding: "utf8" })) ?? []
  return paths.flatMap((path) => {
    const id = idIn(path, name)
    if (!id) return []
    const file = join(folder, path)
    const stats = statSync(file, { throwIfNoEntry: false })
    const born = stats?.birthtimeMs || stats?.mtimeMs || 0
    return born >= since - TICK_MS && headOf(file).includes(JSON.stringify(cwd)) ? [id] : []
  })
}

const idIn = (path: string, name: string): string | null => new RegExp(name).exec(basename(path))?.[1] ?? null

function headOf(path: string): string {
  return (
    orNull(() => {
      const fd = openSync(path, "r")
      try {
        const head = Buffer.alloc(HEAD_BYTES)
        return head.toString("utf8", 0, readSync(fd, head, 0, HEAD_BYTES, 0))
      } finally {
        closeSync(fd)
      }
    }) ?? ""
  )
}

/** What ended or was removed meanwhile shows nothing. */
function orNull<T>(look: () => T): T | null {
  try {
    return look()
  } catch {
    return null
  }
}
