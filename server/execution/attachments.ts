import { createHash } from "node:crypto"
import type { PutPrompt } from "../../lib/contracts/agentctl/protocol"
import { attachmentsOf, readContent } from "../attachments"
import { type AgentctlClient, DaemonRefused } from "../executors"
import type { Prompt } from "../platform/database"
import type { ExecutionDeps, Live } from "./context"

type Carried = NonNullable<PutPrompt["attachments"]>

/**
 * Brings what goes with a prompt to its daemon, one after the other; what is there already stays. What cannot be brought is told to
 * the agent in words: it must not take a message about a picture for one without.
 */
export async function carryAttachments(
  deps: Pick<ExecutionDeps, "db">,
  live: Live,
  client: AgentctlClient,
  prompt: Prompt,
): Promise<{ attachments: Carried; words: string[] }> {
  const attachments: Carried = []
  const words: string[] = []
  for (const { id, name, mime_type, sha256 } of attachmentsOf(prompt)) {
    const content = await readContent(deps.db, live.owned.ref.id, id)
    const arrived = content !== null && (await put(live, client, { name, sha256 }, content))
    if (arrived) attachments.push({ name, mime_type, sha256 })
    else words.push(`[attached, but it cannot be handed over: ${name}]`)
  }
  return { attachments, words }
}

/** False: a daemon of an earlier version, which does not know the call. */
async function put(live: Live, client: AgentctlClient, file: { name: string; sha256: string }, content: Buffer): Promise<boolean> {
  try {
    await client.putAttachment(live.owned.ref.id, live.owned.epoch, file, content)
    return true
  } catch (error) {
    if (error instanceof DaemonRefused && error.code === "NOT_FOUND") return false
    throw error
  }
}

/** The same text with other pictures is another prompt. Without any it is the text's own hash, as in every ledger before. */
export function bodyHash({ content, attachments = [] }: Pick<PutPrompt, "content" | "attachments">): string {
  const brought = attachments.map(({ name, mime_type, sha256 }) => [name, mime_type, sha256])
  return createHash("sha256")
    .update(brought.length === 0 ? content : JSON.stringify([content, brought]))
    .digest("hex")
}
