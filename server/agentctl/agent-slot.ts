import type { PutAgent, PutAgentAnswer } from "../../lib/contracts/agentctl/protocol"
import { killPoint } from "../../lib/host/kill-point"
import { Agent, type Begun, type Conversation } from "./acp/agent"
import type { AgentExit } from "./acp/agent-process"
import { Failure } from "./failure"
import type { RejectedFiles } from "./rejected-files"
import type { FactsFile } from "./session-facts"
import type { Resolved, SessionManager } from "./session-manager"
import type { Spool } from "./spool"
import { guardLoad, type LoadGuard } from "./transcripts/guard-load"

export interface SlotPlace {
  sessionId: string
  spool: Spool
  facts: FactsFile
  manager: SessionManager
  workspace: string
  dataDir: string
  /** Where the agent's own session files are copied to before it takes them up. */
  transcriptCopies: string
  /** What people attached to their messages; the agent may read it there. */
  attachments: string
  rejected: RejectedFiles
  /** Told once, after the last output of an agent that had become ready. */
  ended(slot: AgentSlot, exit: AgentExit): Promise<void>
}

/** One life of one agent: starting, ready, exited; never back. */
export class AgentSlot {
  readonly executionId: string
  readonly ready: Promise<PutAgentAnswer>
  state: "starting" | "ready" | "exited" = "starting"
  agent: Agent | null = null
  begun: Begun | null = null
  stopRequested = false
  /** From then on it knows what was said since, whatever it had forgotten. */
  prompted = false
  /** Resolves when nothing of it is left, neither process nor unwritten record. */
  readonly over: Promise<void>
  private setOver: () => void = () => undefined

  constructor(
    private readonly body: PutAgent,
    private readonly place: SlotPlace,
  ) {
    this.executionId = body.agent_execution_id
    this.over = new Promise((resolve) => {
      this.setOver = resolve
    })
    this.ready = this.start()
    this.ready.catch(() => undefined)
  }

  async stop(): Promise<void> {
    this.stopRequested = true
    await this.agent?.end()
    await this.over
  }

  private async start(): Promise<PutAgentAnswer> {
    const { facts, spool, manager } = this.place
    const agent_execution_id = this.executionId
    const { start } = this.body
    let resolved: Resolved | null = null
    let guard: LoadGuard | null = null
    try {
      const agent = await Agent.spawn({ ...this.place, body: this.body })
      this.agent = agent
      killPoint("agent.spawned")
      const processes = agent.process.recorded
      await facts.change({ agent: { agent_execution_id, announced: false, processes } })
      if (this.stopRequested) throw new Failure("AGENT_START_FAILED", "The agent was stopped before it was ready.")
      if (start.kind === "resolve") resolved = await manager.resolve(start)
      guard = await guardLoad(this.body.session_files ?? [], this.place.transcriptCopies, Date.now())
      this.begun = await agent.begin({ ...this.body, start: start.kind === "resolve" ? conversation(resolved) : start })
      killPoint("agent.begun")
      if (await guard.destroyed()) throw new Failure("AGENT_SESSION_REJECTED", "The agent destroyed its own session file by taking it up.")
      // Before it is announced: a daemon killed in between would otherwise begin anew what the server takes for continued.
      await manager.save(this.begun.agent_session_id, start)
    } catch (error) {
      await this.giveUp()
      throw guard ? await withFindings(error, guard) : error
    }
    const { agent, begun } = this as { agent: Agent; begun: Begun }
    const { pid, recorded: processes } = agent.process
    const announced = spool.append({
      kind: "agent.started",
      agent_execution_id,
      strategy: begun.strategy,
      pid,
      capabilities: begun.capabilities,
    })
    spool.append({ kind: "agent.session_announced", agent_execution_id, agent_session_id: begun.agent_session_id })
    agent.settings.announce()
    this.state = "ready"
    void agent.exit.then((exit) => this.finish(exit))
    await Promise.all([facts.change({ agent: { agent_execution_id, announced, processes } }), spool.durable()])
    const { findings } = guard
    return {
      ...begun,
      pid,
      ...(findings.length > 0 ? { transcript_findings: findings } : {}),
      ...(resolved ? { resolved_from: resolved.from } : {}),
    }
  }

  private async giveUp(): Promise<void> {
    await this.agent?.end()
    await this.agent?.exit
    this.agent?.recorder.close()
    this.state = "exited"
    await this.place.facts.change({ agent: null }).finally(this.setOver)
  }

  private async finish(exit: AgentExit): Promise<void> {
    this.state = "exited"
    this.agent?.recorder.close()
    await this.place.ended(this, exit).finally(this.setOver)
  }
}

const conversation = (resolved: Resolved | null): Conversation =>
  resolved && resolved.from !== "new" ? { kind: "continue", agent_session_id: resolved.agent_session_id } : { kind: "new" }

/** The agent has ended: what it destroyed is put back before anybody else looks. */
async function withFindings(error: unknown, guard: LoadGuard): Promise<unknown> {
  const told = [...guard.findings, ...(await guard.undo())]
  return error instanceof Failure && told.length > 0
    ? new Failure(error.code, `${error.message} Its session file: ${told.join("; ")}.`, error.details)
    : error
}
