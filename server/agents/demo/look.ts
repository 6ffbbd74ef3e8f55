import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import type { ContentBlock } from "@agentclientprotocol/sdk"

/** What came with a message, as it was given: how, its name and type, how many bytes, and their sha256. */
export async function lookAt(blocks: readonly ContentBlock[]): Promise<string[]> {
  const seen: string[] = []
  for (const block of blocks) {
    if (block.type === "image") seen.push(line("picture", block.uri, block.mimeType, Buffer.from(block.data, "base64")))
    if (block.type === "resource_link") seen.push(line("link", block.uri, block.mimeType, await fetched(block.uri)))
    if (block.type === "resource") {
      const { resource } = block
      const content = "text" in resource ? Buffer.from(resource.text) : Buffer.from(resource.blob, "base64")
      seen.push(line("text" in resource ? "text" : "file", resource.uri, resource.mimeType, content))
    }
  }
  return seen
}

function line(kind: string, uri: string | null | undefined, type: string | null | undefined, content: Buffer | null): string {
  const name = decodeURIComponent(uri?.split("/").at(-1) ?? "without a name")
  const bytes = content ? `${content.length} bytes, sha256 ${createHash("sha256").update(content).digest("hex")}` : "which I cannot read"
  return `${kind} \`${name}\`, ${type ?? "of no type"}, ${bytes}`
}

/** As any agent does with a file it is pointed to: it opens it. */
const fetched = (uri: string): Promise<Buffer | null> => readFile(fileURLToPath(uri)).catch(() => null)
