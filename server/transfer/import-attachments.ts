import { ATTACHMENT_MAX_BYTES, type Attachment } from "../../lib/contracts/attachments"
import type { SkippedRecord } from "../../lib/contracts/transfer"
import { fileName, mimeType, sha256 } from "../attachments"
import { insert, type Journal, remove, StoreRefused } from "../journal"
import type { Clock } from "../platform/clock"
import type { Database } from "../platform/database"
import type { TarEntry } from "./tar"

export const ATTACHED = /^(?:.*\/)?attachments\/([0-9a-f]{64})$/

/**
 * Attachments of a session that is being read in, whether they come before its log or after it. Each is staged as it comes, under a
 * name nobody asks for; once the log has said which there are, they get their own. One is held in memory at a time.
 */
export function stageAttachments(
  { db, journal, clock }: { db: Database; journal: Journal; clock: Clock },
  staging: string,
  userId: string,
  skip: (record: SkippedRecord) => void,
) {
  const rough = (hash: string) => `${staging}.${hash}`
  const keep = (row: Attachment, data: string) => {
    const place = { user_id: userId, session_id: staging, data, created_at: clock.now().toISOString() }
    return journal.write([insert("attachments", { ...row, ...place })])
  }
  const come = new Set<string>()

  return {
    async take(entry: TarEntry, hash: string): Promise<void> {
      const content = await readWithin(entry)
      const broken = content === null ? "oversized" : sha256(content) !== hash ? "malformed" : null
      if (content === null || broken) return skip({ file: entry.name, line: null, reason: broken ?? "oversized", kept: false })
      if (come.has(hash)) return
      const row = { id: rough(hash), name: hash, mime_type: mimeType(content, null), bytes: content.length, sha256: hash }
      await keep(row, content.toString("base64"))
      come.add(hash)
    },

    /** What the log speaks of and is not here. Its message keeps the name. */
    async settle(named: readonly Attachment[]): Promise<Attachment[]> {
      const missing: Attachment[] = []
      for (const attachment of named) {
        const hash = attachment.sha256
        const row = come.has(hash) ? await db.attachment.findUnique({ where: { id: rough(hash) } }) : null
        const arrived = row && (await own(attachment, row.data))
        if (arrived) continue
        missing.push(attachment)
        skip({ file: `attachments/${hash}`, line: null, reason: "missing", kept: true })
      }
      for (const hash of come) await journal.write([remove("attachments", { id: rough(hash) })])
      return missing
    },
  }

  /** False when its id is somebody's already: a log can name any. */
  async function own({ id, name, mime_type }: Attachment, data: string): Promise<boolean> {
    const content = Buffer.from(data, "base64")
    const row = { id, name: fileName(name), mime_type: mimeType(content, mime_type), bytes: content.length, sha256: sha256(content) }
    try {
      await keep(row, data)
      return true
    } catch (error) {
      if (error instanceof StoreRefused) return false
      throw error
    }
  }
}

async function readWithin(entry: TarEntry): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of entry.content) {
    bytes += chunk.length
    if (bytes <= ATTACHMENT_MAX_BYTES) chunks.push(chunk)
  }
  return bytes > ATTACHMENT_MAX_BYTES ? null : Buffer.concat(chunks)
}
