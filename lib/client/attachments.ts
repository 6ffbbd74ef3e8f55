import { ATTACHMENT_MAX_BYTES, ATTACHMENTS_MAX, ATTACHMENTS_MAX_BYTES, type Attachment } from "@/lib/contracts/attachments"
import { call, pathOf } from "./api"
import { formatBytes, plural } from "./format"
import { readStored, writeStored } from "./stored"

/** What goes with a message that is being written, and with one that was. */

export const attachmentPath = (id: string) => pathOf("GET /api/v1/attachments/{attachmentId}", { params: { attachmentId: id } })

export const uploadAttachment = async (file: File, onProgress: (percent: number) => void): Promise<Attachment> =>
  (await call("POST /api/v1/attachments", { query: { name: file.name || "file" }, file, onProgress })).attachment

/** Why a further file cannot go along; null when it can. Said before it is uploaded. */
export function attachmentRefusal(size: number, before: { count: number; bytes: number }): string | null {
  if (before.count >= ATTACHMENTS_MAX) return `At most ${ATTACHMENTS_MAX} files go with a message.`
  if (size > ATTACHMENT_MAX_BYTES) return `It has ${formatBytes(size)}; at most ${formatBytes(ATTACHMENT_MAX_BYTES)} can be attached.`
  if (before.bytes + size > ATTACHMENTS_MAX_BYTES) return `Together they have more than ${formatBytes(ATTACHMENTS_MAX_BYTES)}.`
  return null
}

/** One line for a message, where there is no room to show what it brings. */
export const messageWords = (text: string, attachments: readonly Attachment[] = []): string => {
  if (attachments.length === 0) return text
  const names = attachments.map(({ name }) => name).join(", ")
  return text.trim() === "" ? names : `${text} (with ${names})`
}

/** For a glance, and for those who do not see the paperclip. */
export const attachmentsWords = (attachments: readonly Attachment[]): string =>
  `${plural(attachments.length, "attachment")}: ${attachments.map(({ name }) => name).join(", ")}`

const keyOf = (draft: string) => `${draft}.attachments`

/** Beside the draft's text, so that a reload keeps both. */
export function readKept(draft: string): Attachment[] {
  try {
    return JSON.parse(readStored(keyOf(draft)) ?? "[]") as Attachment[]
  } catch {
    return []
  }
}

export function changeKept(draft: string, how: (kept: Attachment[]) => Attachment[]): void {
  const after = how(readKept(draft))
  writeStored(keyOf(draft), after.length === 0 ? null : JSON.stringify(after))
}

/** Uploads end in any order; after a reload the files must stand as they were given. One without a place is older than this page. */
export function insertInPlace(kept: readonly Attachment[], added: Attachment, places: ReadonlyMap<string, number>): Attachment[] {
  const placeOf = ({ id }: Attachment) => places.get(id) ?? 0
  const later = kept.findIndex((one) => placeOf(one) > placeOf(added))
  return later === -1 ? [...kept, added] : kept.toSpliced(later, 0, added)
}
