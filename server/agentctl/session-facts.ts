import { readFile, rename } from "node:fs/promises"
import { z } from "zod"
import { WorkspaceSpec } from "../../lib/contracts/agentctl/protocol"
import { replaceFile } from "./durable-file"
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

/** The few facts about a session that must survive the daemon. */
export class FactsFile {
  private readonly serial = createSerial()
  private constructor(
    private readonly path: string,
    public facts: SessionFacts,
  ) {}

  static async open(path: string, sessionId: string): Promise<FactsFile> {
    const blank: SessionFacts = { session_id: sessionId, epoch: 0, generation: 0, workspace: null, agent: null }
    let text: string
    try {
      text = await readFile(path, "utf8")
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return new FactsFile(path, blank)
      throw error
    }
    try {
      return new FactsFile(path, SessionFacts.parse(JSON.parse(text)))
    } catch {
      await rename(path, `${path}.broken-${Date.now()}`)
      return new FactsFile(path, blank)
    }
  }

  /** In memory at once, so that the next call sees it; on disk when it resolves. */
  change(part: Partial<SessionFacts>): Promise<void> {
    this.facts = { ...this.facts, ...part }
    return this.serial(() => replaceFile(this.path, JSON.stringify(this.facts)))
  }
}
