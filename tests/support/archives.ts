import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import type { ArchiveState, PutArchive, PutRestore, RestoreState } from "../../lib/contracts/agentctl/archive"
import type { Daemon } from "./daemon"

export const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always", ...args], {
    cwd,
    encoding: "utf8",
  })

type Refusal = { code?: string; message?: string }

export async function packed(
  daemon: Daemon,
  id: string,
  archiveId: string,
  body: Partial<PutArchive> = {},
): Promise<ArchiveState & Refusal> {
  const begun = await daemon.call<ArchiveState & Refusal>("PUT", `/sessions/${id}/archive/${archiveId}`, { body: putArchive(daemon, body) })
  return begun.status === 200
    ? settled(daemon, `/sessions/${id}/archive/${archiveId}`, (s: ArchiveState) => s.state !== "packing")
    : begun.body
}

export const putArchive = (daemon: Daemon, body: Partial<PutArchive> = {}): PutArchive => ({
  generation: 1,
  agent_session_id: null,
  agent_files: [],
  agent_exports: [],
  max_bytes: 2 ** 31,
  folder: join(daemon.dataDir, "archives"),
  ...body,
})

export const putRestore = (workspace: PutRestore["workspace"], archive: ArchiveState, body: Partial<PutRestore> = {}): PutRestore => ({
  generation: 2,
  workspace,
  source: { kind: "folder", path: archive.path ?? "" },
  sha256: archive.sha256 ?? "",
  bytes: archive.archive_bytes ?? 0,
  agent_files: [],
  agent_imports: [],
  max_bytes: 2 ** 31,
  ...body,
})

export async function restored(daemon: Daemon, id: string, archiveId: string, body: PutRestore): Promise<RestoreState & Refusal> {
  const begun = await daemon.call<RestoreState & Refusal>("PUT", `/sessions/${id}/restore/${archiveId}`, { body })
  const over = (s: RestoreState) => ["restored", "failed", "needs_url"].includes(s.state)
  return begun.status === 200 ? settled(daemon, `/sessions/${id}/restore/${archiveId}`, over) : begun.body
}

async function settled<T extends object>(daemon: Daemon, path: string, over: (state: T) => boolean): Promise<T> {
  for (;;) {
    const { body } = await daemon.call<T>("GET", path)
    if (over(body)) return body
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Every file, link and folder below, with content, mode and time; git's own folders are compared by git. */
export function snapshot(root: string, prefix = ""): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of readdirSync(Buffer.from(join(root, prefix)), { encoding: "buffer" })) {
    const name = prefix ? `${prefix}/${entry.toString("latin1")}` : entry.toString("latin1")
    if (entry.toString() === ".git") continue
    const path = Buffer.from(`${root}/${name}`, "latin1")
    const stats = lstatSync(path, { bigint: true })
    if (stats.isSymbolicLink()) found[name] = `-> ${readlinkSync(path, { encoding: "buffer" }).toString("latin1")}`
    else if (stats.isDirectory()) Object.assign(found, snapshot(root, name))
    else if (stats.isFile()) {
      const sha256 = createHash("sha256").update(readFileSync(path)).digest("hex")
      found[name] = `${(stats.mode & 0o7777n).toString(8)} ${stats.size} ${sha256} ${stats.mtimeNs / 1000n}`
    }
  }
  return found
}

/** What git says of a repository, in the words a person would look at. */
export function gitView(path: string): Record<string, string> {
  const commands = {
    status: ["status", "--porcelain=v2", "--branch", "-z", "--ignored=no"],
    log: ["log", "--all", "--format=%H %D %s"],
    head: ["symbolic-ref", "-q", "--short", "HEAD"],
    stash: ["stash", "list", "--format=%H %gs"],
    staged: ["diff", "--cached"],
    unstaged: ["diff"],
    index: ["ls-files", "-v", "--stage"],
  }
  return Object.fromEntries(
    Object.entries(commands).map(([name, args]) => {
      try {
        return [name, git(path, ...args)]
      } catch (error) {
        return [name, `failed ${(error as { status: number }).status}`]
      }
    }),
  )
}

export const exists = existsSync
