import { createHash } from "node:crypto"
import { mkdir, readFile, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Attached } from "./acp/prompt-blocks"
import { replaceFile } from "./durable-file"
import { Failure } from "./failure"

export type AttachedFile = { name: string; sha256: string }

/**
 * What people attached to a session's messages, as files beside its spool: an agent that takes no pictures is given their place,
 * and may come back to it for as long as the session lives.
 */
export class AttachedFiles {
  constructor(readonly folder: string) {}

  /** On disk when it resolves; calls must not overlap. */
  async keep(file: AttachedFile, content: Buffer): Promise<void> {
    if (createHash("sha256").update(content).digest("hex") !== file.sha256)
      throw new Failure("CHECKSUM_MISMATCH", "These are not the bytes of that sha256.")
    const path = this.pathOf(file)
    const known = await stat(path).catch(() => null)
    if (known?.size === content.length) return
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await replaceFile(path, content)
  }

  async read(files: readonly (AttachedFile & { mime_type: string })[]): Promise<Attached[]> {
    return Promise.all(
      files.map(async (file) => {
        const path = this.pathOf(file)
        const content = await readFile(path).catch(() => {
          throw new Failure("PATH_MISSING", `${file.name} was not put here before the prompt that brings it.`)
        })
        return { name: file.name, mime_type: file.mime_type, uri: pathToFileURL(path).href, content }
      }),
    )
  }

  private pathOf({ name, sha256 }: AttachedFile): string {
    return join(this.folder, sha256.slice(0, 16), safeName(name))
  }
}

/** Its ending tells programs what it is, so that it stays; nothing in it may be a folder, or hidden, or mean something to a shell. */
export function safeName(name: string): string {
  const plain = name.replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[._-]+/, "")
  const characters = [...plain]
  // A name has 255 bytes at most, a character up to four.
  return (characters.length > 60 ? [...characters.slice(0, 40), ...characters.slice(-20)] : characters).join("") || "file"
}
