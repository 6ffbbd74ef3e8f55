import { randomBytes, randomUUID } from "node:crypto"
import { mkdirSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { type AgentctlFile, PROTOCOL_VERSION } from "../../lib/contracts/agentctl/protocol"
import { lockFolder } from "../../lib/host/folder-lock"
import { killPoint } from "../../lib/host/kill-point"
import { processStartTime } from "../../lib/host/process-identity"
import { keepOwnFilesPrivate } from "../../lib/host/umask"
import { Archives } from "./archive/archives"
import { createJobRunner } from "./archive/job"
import { Restores } from "./archive/restores"
import { parseArguments } from "./arguments"
import { createGit, createPipedGit } from "./git"
import { listen } from "./http"
import { type Log, openLog } from "./log"
import { publish } from "./published-file"
import { Sessions } from "./sessions"
import { createWorkspaces } from "./workspace"
import { WorkspaceViews } from "./workspace-routes"

/** agentctl: runs the agents of one data folder, outlives the server, and keeps on disk all they said until the server has it. */

const EXIT_FOLDER_TAKEN = 3
/** A clean end that takes longer is cut short; the next daemon ends what is left. */
const SHUT_DOWN_LIMIT_MS = 15_000
const TRASH_SWEEP_MS = 60 * 60 * 1000

async function main(): Promise<void> {
  const args = parseArguments(process.argv.slice(2))
  keepOwnFilesPrivate(args.umask)
  for (const name of ["", "run", "logs", "sessions", "workspaces", "trash"])
    mkdirSync(join(args.dataDir, name), { recursive: true, mode: 0o700 })
  const dataDir = realpathSync(args.dataDir)
  const takeFolder = () => lockFolder(join(dataDir, "run/agentctl.lock"), args.nativeBinding)
  const taken = takeFolder()
  if (!taken) {
    process.stderr.write(`agentctl: another daemon holds ${dataDir}\n`)
    process.exit(EXIT_FOLDER_TAKEN)
  }
  let lock = taken
  /** A lock whose file was deleted keeps nobody out: it is taken again, unless another daemon was faster. */
  const holdsFolder = () => {
    if (lock.isInPlace()) return true
    const again = takeFolder()
    if (!again) return false
    lock.release()
    lock = again
    return true
  }
  killPoint("daemon.locked")
  const log = openLog(join(dataDir, "logs/agentctl.log"))
  surviveMistakes(log)

  const workspaces = createWorkspaces(dataDir, createGit(dataDir))
  const sessions = new Sessions(dataDir, args.limits, workspaces, log)
  await sessions.adopt()
  const runJob = createJobRunner(new URL("./archive-worker.mjs", import.meta.url), dataDir, (stack) =>
    log.error("archive.unexpected", stack),
  )
  const git = createPipedGit(dataDir)
  const archives = new Archives({ dataDir, git, runJob, log })
  const restores = new Restores({ dataDir, workspaces, git, runJob, log })
  await archives.clean()

  const startedAt = new Date().toISOString()
  const secret = randomBytes(32).toString("base64url")
  const identity = { instance_id: `actl_${randomUUID()}`, pid: process.pid, protocol: PROTOCOL_VERSION, build: args.build }
  const http = await listen(
    {
      sessions,
      archives,
      restores,
      dataDir,
      workspaceViews: new WorkspaceViews(dataDir, git),
      health: () => ({ ...identity, started_at: startedAt, sessions: sessions.count }),
      shutDown: () => void end("asked to"),
    },
    secret,
    log,
  )
  const file: AgentctlFile = { ...identity, start_time: processStartTime(process.pid) ?? "", endpoint: http.endpoint, secret }
  const published = publish(join(dataDir, "run/agentctl.json"), file, holdsFolder, log)
  killPoint("daemon.published")
  log.info("daemon.started", { ...identity, endpoint: http.endpoint, sessions: sessions.count })

  const orphanMs = args.orphanHours * 3_600_000
  const orphanCheck = setInterval(
    () => {
      if (Date.now() - http.lastHeard() > orphanMs) void end("no server for too long")
    },
    Math.min(Math.max(orphanMs / 10, 50), 60_000),
  )
  void workspaces.emptyOldTrash()
  const trashSweep = setInterval(() => void workspaces.emptyOldTrash(), TRASH_SWEEP_MS)

  let ending = false
  async function end(why: string): Promise<void> {
    if (ending) return
    ending = true
    log.info("daemon.ending", { why })
    clearInterval(orphanCheck)
    clearInterval(trashSweep)
    setTimeout(() => process.exit(1), SHUT_DOWN_LIMIT_MS).unref()
    await sessions.shutDown()
    http.stop()
    published.end()
    lock.release()
    log.info("daemon.ended")
    process.exit(0)
  }
  process.on("SIGTERM", () => void end("SIGTERM"))
  process.on("SIGINT", () => void end("SIGINT"))
  process.on("SIGHUP", () => log.info("daemon.hangup_ignored"))
}

/** One session's mistake must not take the others' agents down. */
function surviveMistakes(log: Log): void {
  process.on("uncaughtException", (error) => log.error("daemon.uncaught", error))
  process.on("unhandledRejection", (reason) => log.error("daemon.unhandled", reason))
  // The SDK speaks to the console, which nobody reads here; its first words carry no content.
  console.error = (...words: unknown[]) => log.warn("console", { message: String(words[0]).slice(0, 200) })
  console.warn = console.error
}

main().catch((error: unknown) => {
  process.stderr.write(`agentctl: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
