import { readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod"
import type { PutAgent } from "../../lib/contracts/agentctl/protocol"
import { replaceFile } from "./durable-file"
import { createSerial } from "./serial"

/** Its name in seed and archive alike; every agent's id is kept in it, not only Claude's. */
export const SESSION_ID_FILE = ".claude_session_id"

type Resolve = Extract<PutAgent["start"], { kind: "resolve" }>
export type Resolved = { from: "file" | "task_and_bot"; agent_session_id: string } | { from: "new" }

/**
 * Which of its own conversations an agent goes on with in this session. Kept beside the spool and not in the work tree, where an
 * agent would commit it; per session, because two sessions of one task must not end up in one conversation.
 */
export class SessionManager {
  private readonly file: string
  private readonly mapFile: string
  private readonly serial = createSerial()

  constructor(sessionsFolder: string, sessionId: string) {
    this.file = join(sessionsFolder, `${sessionId}${SESSION_ID_FILE}`)
    this.mapFile = join(sessionsFolder, `${sessionId}.agent-sessions.json`)
  }

  /** The file, which a restore brings from elsewhere, before what this place remembers by itself. */
  async resolve({ task_id, bot_id, new_session }: Resolve): Promise<Resolved> {
    if (new_session) return { from: "new" }
    const saved = await this.load()
    if (saved) return { from: "file", agent_session_id: saved }
    const mapped = (await this.readMap())[internalKey(task_id, bot_id)]
    return mapped ? { from: "task_and_bot", agent_session_id: mapped } : { from: "new" }
  }

  async load(): Promise<string | null> {
    const text = await readFile(this.file, "utf8").catch(() => "")
    return text.trim() || null
  }

  /** On disk when it resolves. Only a start that named task and bot is remembered for them. */
  save(agentSessionId: string, start?: PutAgent["start"]): Promise<void> {
    return this.serial(async () => {
      if ((await this.load()) !== agentSessionId) await replaceFile(this.file, agentSessionId)
      if (start?.kind !== "resolve") return
      const map = await this.readMap()
      const key = internalKey(start.task_id, start.bot_id)
      if (map[key] !== agentSessionId) await replaceFile(this.mapFile, JSON.stringify({ ...map, [key]: agentSessionId }))
    })
  }

  /** What an archive says, also when it says that there was none. */
  replace(agentSessionId: string | null): Promise<void> {
    return this.serial(() => (agentSessionId === null ? rm(this.file, { force: true }) : replaceFile(this.file, agentSessionId)))
  }

  private async readMap(): Promise<Record<string, string>> {
    try {
      return z.record(z.string(), z.string()).parse(JSON.parse(await readFile(this.mapFile, "utf8")))
    } catch {
      return {}
    }
  }
}

const internalKey = (taskId: string, botId: string): string => `${taskId}:${botId}`
