import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod"
import { ConversationTraces, PtyConversation } from "../../../lib/contracts/agentctl/ptys"
import { replaceFile, setAside } from "../durable-file"
import { createSerial } from "../serial"

const Recorded = z.object({ pid: z.number().int(), start_time: z.string() })

const PtyFacts = z.object({
  worker_id: z.string(),
  type: z.enum(["agent", "terminal"]),
  epoch: z.number().int(),
  epoch_offset: z.number().int(),
  cols: z.number().int(),
  rows: z.number().int(),
  title: z.string().nullable(),
  /** Until its end was seen. Found by a later daemon, it is gone. */
  process: Recorded.nullable(),
  exit: z.object({ exit_code: z.number().int().nullable(), signal: z.string().nullable() }).nullable(),
  running: z.array(Recorded.extend({ command: z.string(), cwd: z.string().nullable(), foreground: z.boolean() })),
  /** Of an agent: which conversation its latest process is in, and where, since when and for which folder that shows. */
  talk: z
    .object({
      conversation: PtyConversation,
      traces: ConversationTraces.nullable(),
      unclear: z.boolean(),
      cwd: z.string(),
      started_at: z.number(),
    })
    .nullable()
    .default(null),
  /** From which offset on the screen had which size, as far as it may have to be drawn again. */
  sizes: z.array(z.object({ offset: z.number().int(), cols: z.number().int(), rows: z.number().int() })),
})
export type PtyFacts = z.infer<typeof PtyFacts>

/** The few facts about a terminal that must survive the daemon. */
export class PtyRecord {
  private readonly serial = createSerial()
  private writing: Promise<void> | null = null

  private constructor(
    private readonly path: string,
    public facts: PtyFacts,
  ) {}

  static blank(folder: string, workerId: string, type: "agent" | "terminal"): PtyRecord {
    return new PtyRecord(join(folder, "state.json"), {
      ...{ worker_id: workerId, type, epoch: 0, epoch_offset: 0, cols: 80, rows: 24 },
      ...{ title: null, process: null, exit: null, running: [], sizes: [], talk: null },
    })
  }

  /** Null when there is none that can be read. */
  static async open(folder: string): Promise<PtyRecord | null> {
    const path = join(folder, "state.json")
    const text = await readFile(path, "utf8").catch(() => null)
    if (text === null) return null
    try {
      return new PtyRecord(path, PtyFacts.parse(JSON.parse(text)))
    } catch {
      await setAside(path)
      return null
    }
  }

  /** In memory at once; on disk when it resolves. Changes that come while one is written share the next write. */
  change(part: Partial<PtyFacts>): Promise<void> {
    this.facts = { ...this.facts, ...part }
    this.writing ??= this.serial(() => {
      this.writing = null
      return replaceFile(this.path, JSON.stringify(this.facts))
    })
    return this.writing
  }
}
