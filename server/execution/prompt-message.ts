import { z } from "zod"
import { Attachment } from "../../lib/contracts/attachments"
import { readColumn } from "../platform/columns"
import type { Prompt } from "../platform/database"

/** The text a person wrote. Null when it, or what was attached to it, cannot be read any more: then nothing of it may be delivered. */
export function messageOf({ id, content, attachments }: Pick<Prompt, "id" | "content" | "attachments">): string | null {
  const attached = attachments === null ? [] : readColumn(`prompts.attachments ${id}`, attachments, z.array(Attachment), null)
  return attached === null ? null : readColumn(`prompts.content ${id}`, content, z.string(), null)
}
