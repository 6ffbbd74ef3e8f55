import { open, readFile } from "node:fs/promises"
import { dirname } from "node:path"
import { z } from "zod"
import { madeAt } from "../../lib/contracts/ids"
import { setAside, syncFolder } from "./durable-file"

const Entry = z.object({ prompt_id: z.string(), run_id: z.string(), body_sha256: z.string(), ts: z.string().optional() })
export type PromptEntry = Omit<z.infer<typeof Entry>, "ts">

/** What the session's spool says of prompts, and of which records: of none, since it was made just now, of all there were, or of some. */
export type SpooledPrompts = { accepted: readonly PromptEntry[]; of: "none" | "all" | "some" }

/** How an entry begins, and longer than any is: what else stands behind the last line end is no entry that was being written. */
const BEGINNING = '{"prompt_id":"'
const LONGEST_ENTRY = 512

/**
 * Which prompts were ever handed to an agent. Never cut: forgetting an id would let a late repetition reach the agent again. Ids that
 * a damaged file has lost are taken from the spool; where that does not have all of them, any id that might be one counts as lost.
 */
export class PromptLedger {
  private constructor(
    private readonly path: string,
    private readonly entries: Map<string, PromptEntry>,
    private size: number,
    private exists: boolean,
    /** Ids made up to then may be among those that were lost; null: none was. */
    private readonly lostUntil: number | null,
    /** What stands before the next entry is no whole line. */
    private unended: boolean,
  ) {}

  static async open(path: string, spooled: SpooledPrompts): Promise<PromptLedger> {
    const bytes = await readOrNull(path)
    const found = bytes === null || bytes === "a folder" ? nothing() : scan(bytes)
    // A spool that lost some of its records had a life before, and prompts in it.
    const isMissing = bytes === "a folder" || (found.entries.size === 0 && spooled.of === "some")
    if (bytes === "a folder") await setAside(path)
    for (const entry of spooled.accepted) if (!found.entries.has(entry.prompt_id)) found.entries.set(entry.prompt_id, entry)
    const lostUntil = isMissing ? Date.now() : found.lostUntil
    const exists = bytes !== null && bytes !== "a folder"
    return new PromptLedger(path, found.entries, found.size, exists, spooled.of === "all" ? null : lostUntil, found.unended)
  }

  find(promptId: string): PromptEntry | null {
    return this.entries.get(promptId) ?? null
  }

  get isDamaged(): boolean {
    return this.lostUntil !== null
  }

  /** The file is damaged, and this id may be one it had: nobody can say any more whether an agent has heard it. */
  mayHaveLost(promptId: string): boolean {
    return this.lostUntil !== null && (madeAt(promptId) ?? 0) <= this.lostUntil
  }

  /** On disk when it resolves; calls must not overlap. */
  async record(entry: PromptEntry): Promise<void> {
    const line = `${JSON.stringify({ ...entry, ts: new Date().toISOString() })}\n`
    const bytes = Buffer.from(this.unended ? `\n${line}` : line)
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
    this.unended = false
    this.size += bytes.length
    this.entries.set(entry.prompt_id, entry)
  }
}

const nothing = () => ({ entries: new Map<string, PromptEntry>(), size: 0, lostUntil: null as number | null, unended: false })

async function readOrNull(path: string): Promise<Buffer | "a folder" | null> {
  try {
    return await readFile(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT") return null
    if (code === "EISDIR") return "a folder"
    throw error
  }
}

function scan(bytes: Buffer) {
  const size = bytes.lastIndexOf(10) + 1
  const entries = new Map<string, PromptEntry>()
  let lostUntil: number | null = null
  let damaged = false
  for (const line of bytes.subarray(0, size).toString("utf8").split("\n")) {
    const entry = parse(line)
    if (entry) {
      const { ts, ...kept } = entry
      entries.set(entry.prompt_id, kept)
      // What was lost had been recorded before this one was.
      if (damaged) lostUntil = Date.parse(ts ?? "") || Date.now()
      damaged = false
    } else if (line !== "") damaged = true
  }
  const tail = bytes.subarray(size)
  // An unterminated last entry was never synced, so its prompt was never sent; the next one overwrites it.
  const unended = tail.length > 0 && !isTornEntry(tail)
  if (damaged || unended) lostUntil = Date.now()
  return { entries, size: unended ? bytes.length : size, lostUntil, unended }
}

function isTornEntry(tail: Buffer): boolean {
  const text = tail.toString("latin1")
  return tail.length <= LONGEST_ENTRY && (text.startsWith(BEGINNING) || BEGINNING.startsWith(text))
}

function parse(line: string): z.infer<typeof Entry> | null {
  try {
    return Entry.parse(JSON.parse(line))
  } catch {
    return null
  }
}
