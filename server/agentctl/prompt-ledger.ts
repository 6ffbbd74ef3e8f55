import { open, readFile } from "node:fs/promises"
import { dirname } from "node:path"
import { z } from "zod"
import { syncFolder } from "./durable-file"

const Entry = z.object({ prompt_id: z.string(), run_id: z.string(), body_sha256: z.string() })
export type PromptEntry = z.infer<typeof Entry>

/** Which prompts were ever handed to an agent. Never cut: forgetting an id would let a late repetition reach the agent again. */
export class PromptLedger {
  private constructor(
    private readonly path: string,
    private readonly entries: Map<string, PromptEntry>,
    private size: number,
    private exists: boolean,
  ) {}

  static async open(path: string): Promise<PromptLedger> {
    let bytes: Buffer
    try {
      bytes = await readFile(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return new PromptLedger(path, new Map(), 0, false)
      throw error
    }
    // An unterminated last line was never synced, so its prompt was never sent; the next entry overwrites it.
    const size = bytes.lastIndexOf(10) + 1
    const entries = new Map<string, PromptEntry>()
    for (const line of bytes.subarray(0, size).toString("utf8").split("\n")) {
      const entry = parse(line)
      if (entry) entries.set(entry.prompt_id, entry)
    }
    return new PromptLedger(path, entries, size, true)
  }

  find(promptId: string): PromptEntry | null {
    return this.entries.get(promptId) ?? null
  }

  /** On disk when it resolves; calls must not overlap. */
  async record(entry: PromptEntry): Promise<void> {
    const bytes = Buffer.from(`${JSON.stringify({ ...entry, ts: new Date().toISOString() })}\n`)
    const file = await open(this.path, this.exists ? "r+" : "w", 0o600)
    try {
      await file.truncate(this.size)
      for (let done = 0; done < bytes.length; ) done += (await file.write(bytes, done, bytes.length - done, this.size + done)).bytesWritten
      await file.sync()
    } finally {
      await file.close()
    }
    if (!this.exists) await syncFolder(dirname(this.path))
    this.exists = true
    this.size += bytes.length
    this.entries.set(entry.prompt_id, entry)
  }
}

function parse(line: string): PromptEntry | null {
  try {
    return Entry.parse(JSON.parse(line))
  } catch {
    return null
  }
}
