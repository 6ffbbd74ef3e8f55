import type { ContentBlock, PromptCapabilities } from "@agentclientprotocol/sdk"
import { isPicture } from "../../../lib/contracts/attachments"

export interface Attached {
  name: string
  mime_type: string
  /** Where it lies, for agents that fetch it themselves. */
  uri: string
  content: Buffer
}

/** A longer text would fill the agent's context by itself; it can read of it what it needs. */
export const EMBEDDED_MAX_BYTES = 256 * 1024

/**
 * A message in the protocol's words: the text, then each attachment in the best way this agent declared to take it. A link to a
 * file is what every agent must accept.
 */
export function promptBlocks(text: string, attached: readonly Attached[], takes: PromptCapabilities): ContentBlock[] {
  const blocks = attached.map((file) => attachedBlock(file, takes))
  return text === "" && blocks.length > 0 ? blocks : [{ type: "text", text }, ...blocks]
}

function attachedBlock({ name, mime_type, uri, content }: Attached, takes: PromptCapabilities): ContentBlock {
  if (takes.image && isPicture({ mime_type })) return { type: "image", mimeType: mime_type, data: content.toString("base64"), uri }
  const text = takes.embeddedContext && content.length <= EMBEDDED_MAX_BYTES ? textIn(content) : null
  if (text !== null) return { type: "resource", resource: { uri, mimeType: textType(mime_type), text } }
  return { type: "resource_link", name, uri, mimeType: mime_type, size: content.length }
}

/** Null unless it is UTF-8 without the zeros that only other formats hold: as text it must be, byte for byte, what was attached. */
function textIn(content: Buffer): string | null {
  if (content.includes(0)) return null
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    return null
  }
}

const textType = (mime_type: string) => (mime_type === "application/octet-stream" ? "text/plain" : mime_type)
