import { z } from "zod"
import { Sha256 } from "./ids"

/** Pictures and files that go to an agent with a message. */

export const ATTACHMENT_MAX_BYTES = 5 * 1024 * 1024
export const ATTACHMENTS_MAX = 10
export const ATTACHMENTS_MAX_BYTES = 20 * 1024 * 1024

/** The types that are shown as pictures. All others are files to download: SVG and HTML would bring scripts of their own. */
export const PICTURE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const
export type PictureType = (typeof PICTURE_TYPES)[number]
export const isPicture = (attachment: { mime_type: string }): boolean => (PICTURE_TYPES as readonly string[]).includes(attachment.mime_type)

export const Attachment = z.object({
  id: z.string(),
  name: z.string(),
  mime_type: z.string(),
  bytes: z.number().int().min(0),
  sha256: Sha256,
})
export type Attachment = z.infer<typeof Attachment>

export const AttachmentIds = z.array(z.string().max(100)).max(ATTACHMENTS_MAX, `at most ${ATTACHMENTS_MAX} files go with a message`)

/** A message says something, or brings something; what is brought needs a message to go with. */
export const requireContent = (
  given: { message?: string | undefined; attachments?: readonly string[] | undefined },
  context: z.RefinementCtx,
): void => {
  const brings = (given.attachments?.length ?? 0) > 0
  if (given.message === "" && !brings) context.addIssue({ code: "custom", path: ["message"], message: "must not be empty" })
  if (given.message === undefined && brings) context.addIssue({ code: "custom", path: ["message"], message: "must go with attachments" })
}

export const UploadQuery = z.object({ name: z.string().min(1).max(1000) })
export const UploadResult = z.object({ attachment: Attachment })
export type UploadResult = z.infer<typeof UploadResult>
