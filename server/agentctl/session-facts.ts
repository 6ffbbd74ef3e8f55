import { readFile } from "node:fs/promises"
import { z } from "zod"
import { WorkspaceSpec } from "../../lib/contracts/agentctl/protocol"
import { replaceFile, setAside } from "./durable-file"
import { createSerial } from "./serial"

const RecordedProcess = z.object({ pid: z.number().int(), start_time: z.string() })
export type RecordedProcess = z.infer<typeof RecordedProcess>

const SessionFacts = z.object({
  session_id: z.string(),
  epoch: z.number().int(),
  generation: z.number().int(),
  workspace: WorkspaceSpec.nullable(),
  /**
   * The agent this daemon runs; a successor finds it here and ends it. `announced` is the number its agent.started was given in
   * the spool, which may not have reached the disk; earlier daemons wrote `true`.
   */
  agent: z
    .object({
      agent_execution_id: z.string(),
      announced: z.union([z.boolean(), z.number().int()]),
      processes: z.array(RecordedProcess),
    })
    .nullable(),
})
export type SessionFacts = z.infer<typeof SessionFacts>

/**
 * The few facts about a session that must survive the daemon. A damaged file is set aside: its agent is then known from the spool, and
 * epoch, generation and workspace from the server (`server/execution/tell-workspace.ts`).
 */
export class FactsFile {
  private readonly serial = createSerial()
  private constructor(
    private readonly path: string,
    public facts: SessionFacts,
  ) {}

  static async open(path: string, sessionId: string): Promise<FactsFile> {
    const facts = await readFacts(path, sessionId)
    if (facts === null) await setAside(path)
    return new FactsFile(path, facts ?? blank(sessionId))
  }

  /** In memory at once, so that the next call sees it; on disk when it resolves. */
  change(part: Partial<SessionFacts>): Promise<void> {
    this.facts = { ...this.facts, ...part }
    return this.serial(() => replaceFile(this.path, JSON.stringify(this.facts)))
  }
}

const blank = (session_id: string): SessionFacts => ({ session_id, epoch: 0, generation: 0, workspace: null, agent: null })

/** Null when the file is damaged; nothing is changed. */
export async function readFacts(path: string, sessionId: string): Promise<SessionFacts | null> {
  let text: string
  try {
    text = await readFile(path, "utf8")
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT") return blank(sessionId)
    if (code === "EISDIR") return null
    // It may be readable at the next call.
    throw error
  }
  try {
    const facts = SessionFacts.parse(JSON.parse(text))
    return facts.session_id === sessionId ? facts : null
  } catch {
    return null
  }
}
