import { createHash } from "node:crypto"
import { type FSWatcher, watch } from "node:fs"
import type { ServerResponse } from "node:http"
import { dirname, join } from "node:path"
import { Failure } from "../failure"
import { type TreeWatch, watchTree } from "./tree-watch"

/** A burst of writes is told once, when it pauses this long or has gone on for LONGEST. */
const QUIET_MS = 150
const LONGEST_MS = 1000
/** Where watching is not possible the tree is compared this often. */
const POLL_MS = 3000
const HEARTBEAT_MS = 10_000
/** A commit, a checkout, a staged file: git's own files that say so. */
const GIT_NAMES = new Set(["index", "HEAD", "ORIG_HEAD", "MERGE_HEAD", "packed-refs"])

export type Watched = {
  root: string
  /** Null where there is no repository. */
  git: { gitDir: string; commonDir: string; branch: string | null } | null
  /** What the changes are now, as text; for comparing. */
  fingerprint: () => Promise<string>
}

/** One line for each time something changed, until the reader goes away. Nothing is watched without a reader. */
export async function streamChanges(watched: Watched, response: ServerResponse): Promise<void> {
  const closed = new Promise<void>((resolve) => response.once("close", resolve))
  let open = true
  void closed.then(() => {
    open = false
  })
  const say = debounce(() => open && response.write('{"changed":true}\n'))
  const stops: (() => void)[] = [say.stop]

  const poll = () => {
    if (open) stops.push(startPolling(watched.fingerprint, say.now))
  }
  let tree: TreeWatch | null
  try {
    tree = await watchTree(watched.root, say.soon, poll)
  } catch {
    throw new Failure("WORKSPACE_MISSING", "The session's workspace does not exist.")
  }
  if (tree) stops.push(tree.close)
  else poll()
  stops.push(...watchGit(watched.git, say.soon))

  response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" })
  response.write("\n")
  const heartbeat = setInterval(() => response.write("\n"), HEARTBEAT_MS)
  stops.push(() => clearInterval(heartbeat))
  if (open) await closed
  for (const stop of stops) stop()
}

function debounce(act: () => void) {
  let timer: NodeJS.Timeout | null = null
  let since = 0
  const now = () => {
    if (timer) clearTimeout(timer)
    timer = null
    act()
  }
  return {
    now,
    soon: () => {
      if (timer) clearTimeout(timer)
      else since = Date.now()
      timer = setTimeout(now, Math.max(0, Math.min(QUIET_MS, since + LONGEST_MS - Date.now())))
    },
    stop: () => {
      if (timer) clearTimeout(timer)
    },
  }
}

function watchGit(git: Watched["git"], changed: () => void): (() => void)[] {
  if (!git) return []
  const branchFolder = git.branch === null ? [] : [dirname(join(git.commonDir, "refs/heads", git.branch))]
  const inGit = watchNames(git.gitDir, changed, (name) => GIT_NAMES.has(name))
  const inRefs = branchFolder.map((folder) => watchNames(folder, changed, (name) => !name.endsWith(".lock")))
  return [inGit, ...inRefs].flatMap((watcher) => (watcher ? [() => watcher.close()] : []))
}

function watchNames(folder: string, changed: () => void, matters: (name: string) => boolean): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => name !== null && matters(name) && changed())
    watcher.on("error", () => watcher.close())
    return watcher
  } catch {
    return null
  }
}

function startPolling(fingerprint: () => Promise<string>, changed: () => void): () => void {
  let last: string | null = null
  let stopped = false
  let timer: NodeJS.Timeout
  const look = async () => {
    const now = await fingerprint()
      .then((text) => createHash("sha256").update(text).digest("hex"))
      .catch(() => null)
    if (stopped) return
    if (last !== null && now !== null && now !== last) changed()
    last = now ?? last
    timer = setTimeout(look, POLL_MS)
  }
  timer = setTimeout(look, 0)
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
