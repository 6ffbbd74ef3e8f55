import { createHash } from "node:crypto"
import { ATTACHMENT_MAX_BYTES, type Attachment, isPicture } from "../../lib/contracts/attachments"
import { AppError } from "../../lib/contracts/errors"
import { insert, type Journal, remove } from "../journal"
import type { Clock } from "../platform/clock"
import type { Database } from "../platform/database"
import { ids } from "../platform/ids"
import { fileName, mimeType } from "./recognise"

export type AttachmentDeps = { db: Database; journal: Journal; clock: Clock }

/** Long enough for a draft to be finished the next morning. */
const UNUSED_KEPT_MS = 24 * 3_600_000
/** What nobody sends lies in the database for a day; so much of it is one person's share. */
const UNUSED_MAX_BYTES = 200 * 1024 * 1024

/** Pictures and files on their way into a message, and out to the person whose they are. */
export function createAttachments({ db, journal, clock }: AttachmentDeps) {
  return {
    async keep(
      person: { id: string },
      given: { name: string; type: string | null; length: string | null; content: AsyncIterable<Uint8Array> },
    ): Promise<Attachment> {
      const content = await readWithin(given.content, given.length)
      const unused = await db.attachment.aggregate({ where: { user_id: person.id, session_id: null }, _sum: { bytes: true } })
      if ((unused._sum.bytes ?? 0) + content.length > UNUSED_MAX_BYTES)
        throw new AppError("RATE_LIMITED", "Too many files wait to be sent. Send or leave some, and try again later.", {
          retry_after_seconds: 3600,
        })
      const attachment = {
        id: ids.attachment(),
        name: fileName(given.name),
        mime_type: mimeType(content, given.type),
        bytes: content.length,
        sha256: sha256(content),
      }
      const row = { user_id: person.id, session_id: null, data: content.toString("base64"), created_at: clock.now().toISOString() }
      await journal.write([insert("attachments", { ...attachment, ...row })])
      return attachment
    },

    async open(person: { id: string }, id: string): Promise<{ headers: Record<string, string>; content: Buffer }> {
      const row = await db.attachment.findUnique({ where: { id } })
      if (row?.user_id !== person.id) throw new AppError("NOT_FOUND", "There is no such attachment.", { entity: "attachment" })
      return { headers: headersOf(row), content: Buffer.from(row.data, "base64") }
    },

    async removeUnused(): Promise<void> {
      const unused = { session_id: null, created_at: { lte: new Date(clock.now().getTime() - UNUSED_KEPT_MS).toISOString() } }
      if ((await db.attachment.count({ where: unused })) > 0) await journal.write([remove("attachments", unused)])
    },
  }
}
export type Attachments = ReturnType<typeof createAttachments>

export const sha256 = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex")

/** Only what was recognised as a picture is shown under this server's address; everything else could be a page with scripts. */
function headersOf(row: Pick<Attachment, "name" | "mime_type" | "sha256">): Record<string, string> {
  const picture = isPicture(row)
  const name = encodeURIComponent(row.name).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
  return {
    "content-type": picture ? row.mime_type : "application/octet-stream",
    "content-disposition": `${picture ? "inline" : "attachment"}; filename*=UTF-8''${name}`,
    "x-content-type-options": "nosniff",
    "cache-control": "private, max-age=3600",
  }
}

async function readWithin(content: AsyncIterable<Uint8Array>, length: string | null): Promise<Buffer> {
  const tooLarge = () =>
    new AppError("PAYLOAD_TOO_LARGE", `A file of at most ${ATTACHMENT_MAX_BYTES / 1024 / 1024} MB can be attached.`, {
      limit_bytes: ATTACHMENT_MAX_BYTES,
    })
  if (Number(length ?? 0) > ATTACHMENT_MAX_BYTES) throw tooLarge()
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of content) {
    bytes += chunk.byteLength
    if (bytes > ATTACHMENT_MAX_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
