import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type DaemonSession, SpoolRecord } from "../../lib/contracts/agentctl/protocol"
import type { SessionEvent } from "../../lib/contracts/events"
import type { SessionStatusReport } from "../../lib/contracts/status"
import type { Archive, EventRow, ExecutorRunning, Prompt, ResumeToken, Session } from "../../server/platform/database"
import { isPutAway } from "../../server/status"
import { statusOf } from "./come-to-rest"
import type { OurProcess } from "./place"
import type { World, WorldSession } from "./world"

/** An invariant that does not hold: which, where, what was expected and what was found. */
export type Finding = { invariant: string; where: string; expected: string; found: string }

export type Rows = {
  session: Session
  prompts: Prompt[]
  tokens: ResumeToken[]
  executor: ExecutorRunning
  events: EventRow[]
  /** Of those that were verified. */
  archive: Archive | null
}

/** All that is known of one session at rest, from everybody who knows something. */
export type SessionEvidence = {
  name: string
  session: WorldSession
  /** As a client reads it. */
  log: SessionEvent[]
  rows: Rows
  status: SessionStatusReport
  daemon: DaemonSession | null
  /** Of the executor that is there now; an earlier one's went with it. */
  spool: { id: string | null; records: SpoolRecord[]; unreadable: string[] }
  /** The part of the log that this spool is about; empty while the session is put away. */
  sinceSpool: SessionEvent[]
  ledger: { prompt_id: string; run_id: string; body_sha256: string }[]
  /** What `run echo … >> heard.txt` wrote: each line is one time the agent carried it out. */
  carriedOut: string[]
  /** What lines typed into its terminals wrote: each line is one time the shell carried it out. */
  typedOut: string[]
  /** Of the terminals, as the database has them. */
  closed: Set<string>
  files: { folder: string } | { archive: string } | null
}
export type Evidence = {
  world: World
  sessions: SessionEvidence[]
  /** What agents with a memory of their own wrote down of what they were told, in any of their conversations. */
  heard: string[]
  processes: OurProcess[]
  daemonPids: readonly number[]
}

export async function gather(world: World): Promise<Evidence> {
  const sessions: SessionEvidence[] = []
  for (const session of world.sessions) sessions.push(await gatherSession(world, session))
  const { place } = world
  return { world, sessions, heard: place.folders.flatMap(heardByAgents), processes: place.processes(), daemonPids: place.daemonPids() }
}

async function gatherSession(world: World, session: WorldSession): Promise<SessionEvidence> {
  const { place } = world
  const session_id = session.id
  const { db } = place
  const rows: Rows = {
    session: await db.session.findUniqueOrThrow({ where: { id: session_id } }),
    prompts: await db.prompt.findMany({ where: { session_id }, orderBy: { id: "asc" } }),
    tokens: await db.resumeToken.findMany({ where: { session_id }, orderBy: { id: "asc" } }),
    executor: await db.executorRunning.findUniqueOrThrow({ where: { session_id } }),
    events: await db.sessionEvent.findMany({ where: { session_id }, orderBy: { seq: "asc" } }),
    archive: await db.archive.findFirst({ where: { session_id, state: "ready" }, orderBy: { created_at: "desc" } }),
  }
  const folder = join(place.folderOf(session_id), "sessions")
  const log = await place.server(0).events(session_id)
  return {
    name: `${world.nameOf(session_id)} (${session.agent}, ${session_id})`,
    session,
    log,
    sinceSpool: isPutAway(rows.executor) ? [] : log.slice(log.findLastIndex(({ kind }) => kind === "executor.deleted") + 1),
    rows,
    status: await statusOf(world, session),
    daemon: await place.daemonSession(session_id),
    spool: readSpool(join(folder, `${session_id}.messages.jsonl`)),
    ledger: linesOf(join(folder, `${session_id}.prompts.jsonl`)).map((line) => JSON.parse(line)),
    files: placeOfFiles(rows),
    carriedOut: linesIn(placeOfFiles(rows), "heard.txt"),
    typedOut: linesIn(placeOfFiles(rows), "typed.txt"),
    closed: new Set((await db.worker.findMany({ where: { session_id, closed_at: { not: null } } })).map(({ id }) => id)),
  }
}

/** Where the session's files are now; null: nowhere. */
function placeOfFiles({ executor, archive }: Rows): SessionEvidence["files"] {
  const folder = executor.worktree_path
  if (executor.status !== "deleted" && folder && existsSync(folder)) return { folder }
  const file = archive?.location ? fileURLToPath(archive.location) : null
  return file && existsSync(file) ? { archive: file } : null
}

function linesIn(files: SessionEvidence["files"], file: string): string[] {
  if (!files) return []
  if ("folder" in files) return linesOf(join(files.folder, file))
  const names = execFileSync("tar", ["-tf", files.archive], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).split("\n")
  const name = names.find((one) => one.endsWith(`/${file}`))
  return name
    ? execFileSync("tar", ["-xOf", files.archive, name], { encoding: "utf8" })
        .split("\n")
        .filter((line) => line !== "")
    : []
}

function readSpool(file: string): SessionEvidence["spool"] {
  const [header, ...lines] = linesOf(file)
  const records: SpoolRecord[] = []
  const unreadable: string[] = []
  for (const line of lines) {
    try {
      records.push(SpoolRecord.parse(JSON.parse(line)))
    } catch {
      unreadable.push(line)
    }
  }
  return { id: header ? (JSON.parse(header) as { spool_id: string }).spool_id : null, records, unreadable }
}

function heardByAgents(dataDir: string): string[] {
  const folder = join(dataDir, "demo-agent")
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) =>
    linesOf(join(folder, name)).flatMap((line) => {
      try {
        const said = JSON.parse(line) as { role?: string; text?: string }
        return said.role === "user" && said.text !== undefined ? [said.text] : []
      } catch {
        // Torn by the kill that ended the agent.
        return []
      }
    }),
  )
}

const linesOf = (file: string): string[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : []
