import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type DaemonSession, SpoolRecord } from "../../lib/contracts/agentctl/protocol"
import type { SessionEvent } from "../../lib/contracts/events"
import type { SessionStatusReport } from "../../lib/contracts/status"
import type { EventRow, ExecutorRunning, Prompt, ResumeToken, Session } from "../../server/platform/database"
import { statusOf } from "./come-to-rest"
import type { OurProcess } from "./place"
import type { World, WorldSession } from "./world"

/** An invariant that does not hold: which, where, what was expected and what was found. */
export type Finding = { invariant: string; where: string; expected: string; found: string }

export type Rows = { session: Session; prompts: Prompt[]; tokens: ResumeToken[]; executor: ExecutorRunning; events: EventRow[] }

/** All that is known of one session at rest, from everybody who knows something. */
export type SessionEvidence = {
  name: string
  session: WorldSession
  /** As a client reads it. */
  log: SessionEvent[]
  rows: Rows
  status: SessionStatusReport
  daemon: DaemonSession | null
  spool: { id: string | null; records: SpoolRecord[]; unreadable: string[] }
  ledger: { prompt_id: string; run_id: string; body_sha256: string }[]
  /** What `run echo … >> heard.txt` wrote: each line is one time the agent carried it out. */
  carriedOut: string[]
}
export type Evidence = {
  world: World
  sessions: SessionEvidence[]
  /** What agents with a memory of their own wrote down of what they were told, in any of their conversations. */
  heard: string[]
  processes: OurProcess[]
  daemonPid: number | null
}

export async function gather(world: World): Promise<Evidence> {
  const sessions: SessionEvidence[] = []
  for (const session of world.sessions) sessions.push(await gatherSession(world, session))
  const { place } = world
  return { world, sessions, heard: heardByAgents(place.dataDir), processes: place.processes(), daemonPid: place.daemonPid() }
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
  }
  const folder = join(place.dataDir, "sessions")
  const carriedOut = rows.executor.worktree_path ? linesOf(join(rows.executor.worktree_path, "heard.txt")) : []
  return {
    name: `${world.nameOf(session_id)} (${session.agent}, ${session_id})`,
    session,
    log: await place.server(0).events(session_id),
    rows,
    status: await statusOf(world, session),
    daemon: await place.daemonSession(session_id),
    spool: readSpool(join(folder, `${session_id}.messages.jsonl`)),
    ledger: linesOf(join(folder, `${session_id}.prompts.jsonl`)).map((line) => JSON.parse(line)),
    carriedOut,
  }
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
