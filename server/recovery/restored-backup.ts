import { readFileSync } from "node:fs"
import { rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { NewEvent } from "../../lib/contracts/events"
import { type Journal, newGeneration, updateAny } from "../journal"
import type { Database } from "../platform/database"
import { inPortions } from "../platform/in-portions"
import type { Logger } from "../platform/logger"

/** How far the database had come when a server of this folder last renewed its lease. */
type Mark = { boot_id: string; renewals: number }

const fileOf = (dataDir: string) => join(dataDir, "journal.json")

/** Written after the commit it tells of, so that the folder never claims more than the database had. */
export async function markFolder(dataDir: string, mark: Mark): Promise<void> {
  const draft = `${fileOf(dataDir)}.${process.pid}.tmp`
  await writeFile(draft, JSON.stringify(mark), { mode: 0o600 })
  await rename(draft, fileOf(dataDir))
}

function readMark(dataDir: string): Mark | null {
  try {
    const { boot_id, renewals } = JSON.parse(readFileSync(fileOf(dataDir), "utf8")) as Partial<Mark>
    return typeof boot_id === "string" && typeof renewals === "number" ? { boot_id, renewals } : null
  } catch {
    return null
  }
}

/**
 * Daemons keep the highest epoch they have seen and refuse lower ones. In the life that the backup does not know each start and
 * each takeover raised it by one; this lies above whatever that came to, or this server would be fenced for ever.
 */
const EPOCHS_OF_A_LIFE = 1_000_000

export const BACKUP_RESTORED = "backup_restored"

/**
 * Notices, without anybody's help, that the database is older than the folder beside it, and puts right what would do harm:
 * readers start anew, questions asked before can be answered no more, and a queued message waits for a person, since an agent
 * may have had it already. Cut short, it is done again at the next start: the folder is marked anew only after it.
 */
export async function settleRestoredBackup(options: {
  journal: Journal
  db: Database
  data_dir: string
  logger: Logger
}): Promise<string | null> {
  const { journal, db, logger } = options
  const mark = readMark(options.data_dir)
  if (!mark) return null
  const boot = await db.boot.findUnique({ where: { id: mark.boot_id } })
  if (boot && boot.renewals >= mark.renewals) return null

  await journal.write([
    await newGeneration(db),
    updateAny("sessions", { owner_epoch: { not: null } }, { owner_epoch: { inc: EPOCHS_OF_A_LIFE } }),
  ])
  const [tokens, prompts] = await Promise.all([
    db.resumeToken.findMany({ where: { state: "live" }, select: { id: true, session_id: true } }),
    db.prompt.findMany({ where: { state: "queued" }, select: { id: true, session_id: true } }),
  ])
  const sessions = await inPortions([...new Set([...tokens, ...prompts].map((row) => row.session_id))], (ids) =>
    db.session.findMany({ where: { id: { in: ids } }, select: { id: true, task_id: true, user_id: true } }),
  )
  await Promise.all(
    sessions.map((session) => {
      const ours = <T extends { session_id: string }>(rows: T[]) => rows.filter((row) => row.session_id === session.id)
      const revoked = ours(tokens).map(({ id }): NewEvent => ({ kind: "token.revoked", resume_token_id: id, reason: BACKUP_RESTORED }))
      const held = ours(prompts).map(({ id }): NewEvent => ({ kind: "prompt.held", prompt_id: id, reason: BACKUP_RESTORED }))
      return journal.commit({ session, events: [...revoked, ...held] })
    }),
  )
  logger.warn({ revoked: tokens.length, held: prompts.length }, "the database is older than the data folder: a backup was restored")
  return `A backup was restored. ${count(prompts.length, "queued message")} held, ${count(tokens.length, "question")} withdrawn.`
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`
