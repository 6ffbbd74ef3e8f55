import { execFileSync, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import type { SessionEvent } from "../../lib/contracts/events"
import { packed, putRestore, restored } from "../support/archives"
import { Daemon } from "../support/daemon"
import { Rewake } from "../support/server"
import type { Figure } from "./main"

const SIZES = [
  { files: 2_000, bytes: 50_000_000 },
  { files: 20_000, bytes: 500_000_000 },
]

const LONGEST_MS = 5 * 60_000

/** Archive and restore of a repository's worktree, next to tar and zstd over the same files in the same run. */
export async function measureArchives(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const size of SIZES) figures.push(...(await measure(size)))
  for (const size of SIZES) figures.push(await measureServer(size))
  return figures
}

/** The server's own share: an expired task of that size put away and brought back, its bytes going past the server. */
async function measureServer({ files, bytes }: { files: number; bytes: number }): Promise<Figure> {
  const rewake = await Rewake.start({ env: { APPEND_CODE_TASK_EXPIRE_HOURS: String(5 / 3600), REAPER_INTERVAL_SECONDS: "1" } })
  try {
    const repository = makeRepository(rewake.dataDir, files, bytes)
    const { task, session } = await rewake.createTask("remember oak", { type: "code", repository })
    await rewake.waitForRuns(session.id, 1)
    const idle = memoryOf(rewake.child?.pid)
    const put = await longWait(() => rewake.events(session.id), "executor.deleted")
    const away = memoryOf(rewake.child?.pid)
    await rewake.api("POST", `/api/v1/tasks/${task.id}/restore`, { message: "recall" })
    await longWait(async () => (await rewake.events(session.id)).slice(put.length), "run.completed")
    const back = memoryOf(rewake.child?.pid)
    return {
      ...{ what: `server above idle, ${files.toLocaleString("en")} files, ${bytes / 1e6} MB` },
      ours: `${Math.round(away.peak - idle.now)} MB archive, ${Math.round(back.peak - idle.now)} MB restore`,
      ...{ baseline: `${Math.round(idle.now)} MB idle`, ratio: "–", aim: "< 64 MB" },
    }
  } finally {
    await rewake.stop()
  }
}

/** Half a gigabyte takes longer than a test would wait. */
async function longWait(look: () => Promise<SessionEvent[]>, kind: SessionEvent["kind"]): Promise<SessionEvent[]> {
  for (const deadline = Date.now() + LONGEST_MS; Date.now() < deadline; await delay(250)) {
    const events = await look()
    if (events.some((event) => event.kind === kind)) return events
  }
  throw new Error(`${kind} did not come`)
}

async function measure({ files, bytes }: { files: number; bytes: number }): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "rewake-bench-archives-"))
  const dataDir = join(folder, "data")
  mkdirSync(dataDir)
  const daemon = await Daemon.start(dataDir)
  try {
    const path = join(dataDir, "workspaces/sess_b")
    const workspace = {
      kind: "worktree" as const,
      path,
      repository: makeRepository(folder, files, bytes),
      mirror: null,
      branch: "rewake/bench",
    }
    await daemon.putSession("sess_b", workspace)
    const idle = memoryOf(daemon.child.pid)
    const names = join(folder, "names")
    writeFileSync(names, execFileSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], { cwd: path, maxBuffer: 2 ** 28 }))

    const plainPack = timed(() =>
      shell(`tar -C ${path} --null -T ${names} -cf - | zstd -q -3 > ${folder}/plain.tar.zst && sync -f ${folder}/plain.tar.zst`),
    )
    let started = performance.now()
    const archive = await packed(daemon, "sess_b", "arc_b")
    const ourPack = performance.now() - started
    if (archive.state !== "packed") throw new Error(JSON.stringify(archive.error))
    const packMemory = memoryOf(daemon.child.pid)

    await daemon.call("DELETE", "/sessions/sess_b?generation=1")
    mkdirSync(join(folder, "plain"))
    const plainRestore = timed(() =>
      shell(`zstd -q -d -c ${folder}/plain.tar.zst | tar -C ${folder}/plain -xf - && sync -f ${folder}/plain`),
    )
    started = performance.now()
    const back = await restored(daemon, "sess_b", "arc_b", putRestore(workspace, archive))
    const ourRestore = performance.now() - started
    if (back.state !== "restored") throw new Error(JSON.stringify(back.error))
    const restoreMemory = memoryOf(daemon.child.pid)

    const shown = `${files.toLocaleString("en")} files, ${bytes / 1e6} MB`
    const share = archive.archive_bytes ?? 0
    const plainBytes = statSync(join(folder, "plain.tar.zst")).size
    return [
      speed(`archive ${shown}`, bytes, ourPack, plainPack, "tar and zstd -3"),
      speed(`restore ${shown}`, bytes, ourRestore, plainRestore, "zstd -d and tar"),
      {
        ...{ what: `archive's size, ${shown}`, ours: `${(share / 1e6).toFixed(1)} MB`, baseline: `${(plainBytes / 1e6).toFixed(1)} MB` },
        ...{ ratio: `${(share / plainBytes).toFixed(2)}×`, aim: "–" },
      },
      {
        ...{
          what: `agentctl above idle, ${shown}`,
          ours: `${Math.round(packMemory.peak - idle.now)} MB archive, ${Math.round(restoreMemory.peak - idle.now)} MB restore`,
        },
        ...{ baseline: `${Math.round(idle.now)} MB idle`, ratio: "–", aim: "< 64 MB" },
      },
    ]
  } finally {
    await daemon.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Text that compresses as source does, each file its own. */
function makeRepository(folder: string, files: number, bytes: number): string {
  const path = join(folder, "repository")
  const each = Math.floor(bytes / files)
  for (let i = 0; i < files; i++) {
    const place = join(path, `src/${i % 50}/${i % 7}`)
    if (i < 350) mkdirSync(place, { recursive: true })
    const half = randomBytes(Math.floor(each / 4)).toString("hex")
    writeFileSync(
      join(place, `file-${i}.ts`),
      half + "export const value = compute(previous)\n".repeat(Math.ceil(each / 76)).slice(0, each - half.length),
    )
  }
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=B", "-c", "user.email=b@example.com", "-c", "core.looseCompression=0", ...args], { cwd: path })
  git("init", "-q", "-b", "main")
  // It would run beside the measuring, and still be at work when the folder is removed.
  git("config", "gc.auto", "0")
  git("add", ".")
  git("commit", "-q", "-m", "all of it")
  return path
}

function speed(what: string, bytes: number, ours: number, plain: number, name: string): Figure {
  const rate = (ms: number) => `${(ms / 1000).toFixed(2)} s (${Math.round(bytes / 1000 / ms)} MB/s)`
  return { what, ours: rate(ours), baseline: `${rate(plain)} ${name}`, ratio: `${(plain / ours).toFixed(2)}×`, aim: "≥ 0.8×" }
}

function timed(work: () => void): number {
  const started = performance.now()
  work()
  return performance.now() - started
}

function shell(command: string): void {
  const { status, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", command], { encoding: "utf8" })
  if (status !== 0) throw new Error(stderr)
}

/** Peak since the last look, in MB. */
function memoryOf(pid: number | undefined): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const field = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
  const found = { now: field("VmRSS"), peak: field("VmHWM") }
  writeFileSync(`/proc/${pid}/clear_refs`, "5")
  return found
}
