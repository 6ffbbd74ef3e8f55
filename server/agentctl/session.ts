import { existsSync } from "node:fs"
import { join } from "node:path"
import type { OptionValues, RefusedOption } from "../../lib/contracts/agent-setup"
import type { DaemonSession, PutAgent, PutAgentAnswer, PutPrompt, PutSession, WorkspaceSpec } from "../../lib/contracts/agentctl/protocol"
import type { Outcome } from "../../lib/contracts/waits"
import { killPoint } from "../../lib/host/kill-point"
import { rpcCode, rpcText } from "./acp/agent"
import type { AgentExit } from "./acp/agent-process"
import { AgentSlot } from "./agent-slot"
import { type AttachedFile, AttachedFiles } from "./attached-files"
import { Failure, messageOf } from "./failure"
import type { Log } from "./log"
import { endProcesses } from "./process-tree"
import type { PromptLedger } from "./prompt-ledger"
import type { Ptys } from "./pty/ptys"
import type { RejectedFiles } from "./rejected-files"
import { createSerial } from "./serial"
import type { FactsFile, RecordedProcess } from "./session-facts"
import type { SessionManager } from "./session-manager"
import type { Spool } from "./spool"
import type { Workspaces } from "./workspace"

export interface SessionParts {
  id: string
  dataDir: string
  facts: FactsFile
  spool: Spool
  rejected: RejectedFiles
  ledger: PromptLedger
  manager: SessionManager
  ptys: Ptys
  workspaces: Workspaces
  /** What an earlier daemon left running here. */
  strays: RecordedProcess[]
  /** True while the daemon itself is ending: its turns are not failed by the agent but interrupted, which the server says. */
  shuttingDown(): boolean
  log: Log
}

interface Turn {
  run_id: string
  prompt_id: string
  slot: AgentSlot
}

/** One session in this place: its spool, its workspace, at most one agent, at most one turn. */
export class Session {
  private slot: AgentSlot | null = null
  private turn: Turn | null = null
  /** A turn whose end is on its way to the disk. Not shown, it would look as if nothing had carried the run and nothing had ended it. */
  private ending: Turn | null = null
  private readonly serial = createSerial()
  private readonly attached: AttachedFiles

  constructor(private readonly parts: SessionParts) {
    this.attached = new AttachedFiles(this.file("attachments"))
  }

  get id(): string {
    return this.parts.id
  }

  get spool(): Spool {
    return this.parts.spool
  }

  get rejected(): RejectedFiles {
    return this.parts.rejected
  }

  get ptys(): Ptys {
    return this.parts.ptys
  }

  get workspace(): WorkspaceSpec | null {
    return this.parts.facts.facts.workspace
  }

  /** A file of this session beside its spool; it goes when the session is deleted. */
  file(suffix: string): string {
    return join(this.parts.dataDir, "sessions", `${this.parts.id}.${suffix}`)
  }

  /** What was decided about an older life of this session must not happen to a newer one. */
  requireGeneration(generation: number): void {
    const seen = this.parts.facts.facts.generation
    if (generation < seen)
      throw new Failure("GENERATION_STALE", `Generation ${generation} is over; the session is at ${seen}.`, { generation: seen })
  }

  describe(): DaemonSession {
    const { id, facts, spool } = this.parts
    const workspace = facts.facts.workspace
    const turn = this.turn ?? this.ending
    return {
      session_id: id,
      spool_id: spool.id,
      head: spool.head,
      epoch: facts.facts.epoch,
      generation: facts.facts.generation,
      workspace_path: workspace?.path ?? "",
      worktree_branch: workspace?.kind === "worktree" ? workspace.branch : null,
      agent: this.slot && {
        agent_execution_id: this.slot.executionId,
        state: this.slot.state,
        pid: this.slot.state === "exited" ? null : (this.slot.agent?.process.pid ?? null),
        agent_session_id: this.slot.begun?.agent_session_id ?? null,
        capabilities: this.slot.begun?.capabilities ?? null,
        ...(this.slot.begun?.recollection && !this.slot.prompted ? { recollection: this.slot.begun.recollection } : {}),
      },
      run: turn && { run_id: turn.run_id, prompt_id: turn.prompt_id },
      pending_permissions: this.slot?.agent?.permissions.ids() ?? [],
    }
  }

  /** A server that lost this session to another must not change it any more, also after this daemon was restarted. */
  async fence(epoch: number): Promise<void> {
    const seen = this.parts.facts.facts.epoch
    if (epoch < seen) throw new Failure("FENCED", `Epoch ${epoch} is over; the session is at ${seen}.`, { epoch: seen })
    if (epoch > seen) await this.parts.facts.change({ epoch })
  }

  /** Ends what a predecessor of this daemon left running here, and says so. Two agents in one workspace would overwrite each other. */
  async endPredecessor(): Promise<void> {
    const { facts, spool, strays } = this.parts
    const left = facts.facts.agent
    await endProcesses([...(left?.processes ?? []), ...strays])
    killPoint("predecessor.ended")
    // Facts that were damaged name no agent; the spool still does.
    const agent_execution_id = left?.agent_execution_id ?? spool.lastUp
    if (agent_execution_id === null) return
    // The spool was written before the facts, or after them: an end that is in it must not be told twice, nor one without a beginning.
    const told = typeof left?.announced === "number" ? left.announced <= spool.head : left?.announced
    if (spool.leftUp(agent_execution_id) ?? told) {
      spool.append({
        kind: "agent.exited",
        agent_execution_id,
        code: null,
        signal: null,
        cause: "predecessor_died",
        stderr_tail: "",
      })
      await spool.durable()
    }
    await facts.change({ agent: null })
  }

  /**
   * What runs here under a lower generation was given up by a person: it ends before anything else is done for the session.
   * The new generation is kept only then, so that a call cut short is a call to repeat.
   */
  async raiseGeneration(generation: number): Promise<void> {
    const { facts, log, id } = this.parts
    this.requireGeneration(generation)
    if (generation === facts.facts.generation) return
    if (this.isAgentUp()) log.info("session.given_up", { session_id: id, generation })
    await this.stopAgent()
    await this.ptys.endAll()
    await facts.change({ generation })
  }

  async put(body: PutSession): Promise<void> {
    await this.raiseGeneration(body.generation)
    return this.serial(async () => {
      const { facts, workspaces } = this.parts
      const { workspace } = facts.facts
      const moved = workspace !== null && workspace.path !== body.workspace.path
      if (moved && this.isAgentUp()) throw new Failure("AGENT_BUSY", "An agent is at work in this session's workspace.")
      if (moved) await this.ptys.endAll()
      await workspaces.make(body.workspace, body.git_credential)
      if (JSON.stringify(workspace) !== JSON.stringify(body.workspace)) await facts.change({ workspace: body.workspace })
    })
  }

  /** `moveIn` puts a finished workspace in its place; no agent and no other workspace comes in between. */
  takeWorkspace(generation: number, workspace: WorkspaceSpec, agentSessionId: string | null, moveIn: () => Promise<void>): Promise<void> {
    return this.serial(async () => {
      const { facts, manager } = this.parts
      this.requireGeneration(generation)
      if (this.isAgentUp()) throw new Failure("AGENT_BUSY", "An agent is at work in this session's workspace.")
      await this.ptys.endAll()
      // Before the files are there: whoever finds them finds the conversation that belongs to them.
      await manager.replace(agentSessionId)
      await moveIn()
      await facts.change({ generation, workspace })
    })
  }

  async startAgent(body: PutAgent): Promise<PutAgentAnswer> {
    const { slot } = this
    if (slot?.executionId === body.agent_execution_id) {
      if (slot.state === "exited" && slot.begun) throw new Failure("AGENT_NOT_RUNNING", "That agent has ended since.")
      return slot.ready
    }
    if (this.isAgentUp()) throw new Failure("AGENT_BUSY", "Another agent is up in this session.")
    if (this.parts.shuttingDown()) throw new Failure("INTERNAL", "The daemon is ending.")
    const { id, facts, spool, rejected, manager, dataDir } = this.parts
    const workspace = facts.facts.workspace?.path
    if (!workspace || !existsSync(workspace)) throw new Failure("WORKSPACE_MISSING", "The session's workspace does not exist.")
    const ended = (s: AgentSlot, exit: AgentExit) => this.agentEnded(s, exit)
    this.slot = new AgentSlot(body, {
      sessionId: id,
      spool,
      rejected,
      facts,
      manager,
      workspace,
      dataDir,
      transcriptCopies: this.file("transcripts"),
      attachments: this.attached.folder,
      ended,
    })
    this.noteStart(this.slot)
    return this.slot.ready
  }

  async stopAgent(): Promise<void> {
    await this.slot?.stop()
  }

  keepAttachment(file: AttachedFile, content: Buffer): Promise<void> {
    return this.serial(() => this.attached.keep(file, content))
  }

  /** At most once per id, for ever: the ledger is on disk before the agent hears of it. */
  prompt(promptId: string, body: PutPrompt): Promise<{ accepted: true; duplicate: boolean }> {
    return this.serial(async () => {
      const { spool, ledger } = this.parts
      if (body.spool_id !== spool.id) throw new Failure("SPOOL_MISMATCH", "This session has another spool now.", { spool_id: spool.id })
      const known = ledger.find(promptId)
      if (known) {
        if (known.body_sha256 !== body.body_sha256) throw new Failure("PROMPT_MISMATCH", "This prompt id was used for another text.")
        return { accepted: true, duplicate: true }
      }
      // As if it were known: the server ends the run, and a person decides. Sent again, it would be another prompt.
      if (ledger.mayHaveLost(promptId)) return { accepted: true, duplicate: true }
      const { slot } = this
      if (slot?.state !== "ready" || slot.stopRequested) throw new Failure("AGENT_NOT_RUNNING", "No agent is ready in this session.")
      if (this.turn) throw new Failure("AGENT_BUSY", "A turn is in progress.", { run_id: this.turn.run_id })
      const attachments = await this.attached.read(body.attachments ?? [])
      const turn: Turn = { run_id: body.run_id, prompt_id: promptId, slot }
      this.turn = turn
      try {
        await ledger.record({ prompt_id: promptId, run_id: body.run_id, body_sha256: body.body_sha256 })
      } catch (error) {
        this.turn = null
        throw error
      }
      killPoint("ledger.recorded")
      slot.prompted = true
      slot.agent?.turnBegan(body.run_id)
      spool.append({ kind: "prompt.accepted", prompt_id: promptId, run_id: body.run_id, body_sha256: body.body_sha256 })
      await spool.durable()
      killPoint("prompt.spooled")
      slot.agent?.prompt(body.content, attachments).then(
        (stopReason) => this.endTurn(turn, stopReason),
        (error) => this.failTurn(turn, error),
      )
      killPoint("prompt.sent")
      return { accepted: true, duplicate: false }
    })
  }

  /** In line with prompts: a cancel sent ahead of its prompt would be ignored by the agent. */
  cancel(runId: string): Promise<{ cancelled: boolean }> {
    return this.serial(async () => {
      if (this.turn?.run_id !== runId) return { cancelled: false }
      await this.turn.slot.agent?.cancel()
      return { cancelled: true }
    })
  }

  async answerPermission(permissionId: string, outcome: Outcome): Promise<Outcome> {
    const permissions = this.slot?.agent?.permissions
    if (!permissions) throw new Failure("NOT_FOUND", "No such permission is pending.")
    const standing = await permissions.answer(permissionId, outcome)
    await this.parts.spool.durable()
    return standing
  }

  async setOptions(values: OptionValues): Promise<RefusedOption[]> {
    const { slot } = this
    if (slot?.state !== "ready" || !slot.agent) throw new Failure("AGENT_NOT_RUNNING", "No agent is ready in this session.")
    const refused = await slot.agent.settings.apply(values)
    await this.parts.spool.durable()
    return refused
  }

  ack(spoolId: string, n: number): void {
    const { spool } = this.parts
    if (spoolId !== spool.id) throw new Failure("SPOOL_MISMATCH", "This session has another spool now.", { spool_id: spool.id })
    spool.ack(n)
  }

  isAgentUp(): boolean {
    return this.slot !== null && this.slot.state !== "exited"
  }

  /** Ends agent and terminals and closes the files; nothing is removed. */
  async close(): Promise<void> {
    await Promise.all([this.stopAgent(), this.ptys.close()])
    await this.parts.spool.close()
  }

  discardWorkspace(): Promise<boolean> {
    const { workspace } = this.parts.facts.facts
    return workspace ? this.parts.workspaces.discard(workspace, this.parts.id) : Promise.resolve(false)
  }

  private noteStart(slot: AgentSlot): void {
    const fields = { session_id: this.parts.id, agent_execution_id: slot.executionId }
    slot.ready.then(
      ({ strategy, pid }) => this.parts.log.info("agent.started", { ...fields, strategy, pid }),
      (error) => this.parts.log.warn("agent.start_failed", { ...fields, code: error instanceof Failure ? error.code : "INTERNAL" }),
    )
  }

  private endTurn(turn: Turn, stopReason: string): void {
    if (this.turn !== turn) return
    killPoint("turn.ended")
    const { recorder, permissions } = turn.slot.agent as NonNullable<AgentSlot["agent"]>
    this.turn = null
    void permissions.cancelAll()
    recorder.record({ kind: "turn.ended", run_id: turn.run_id, prompt_id: turn.prompt_id, stop_reason: stopReason })
    recorder.runId = null
    this.showUntilDurable(turn)
  }

  private failTurn(turn: Turn, error: unknown): void {
    // Without a code the connection ended: the exit that follows says how, and comes first.
    if (this.turn !== turn || rpcCode(error) === null) return
    const { recorder, permissions } = turn.slot.agent as NonNullable<AgentSlot["agent"]>
    this.turn = null
    void permissions.cancelAll()
    recorder.record({ kind: "turn.failed", run_id: turn.run_id, prompt_id: turn.prompt_id, reason: "agent_error", message: rpcText(error) })
    recorder.runId = null
    this.showUntilDurable(turn)
  }

  private showUntilDurable(turn: Turn): void {
    this.ending = turn
    const shown = () => {
      if (this.ending === turn) this.ending = null
    }
    this.parts.spool.durable().then(shown, shown)
  }

  private agentEnded(slot: AgentSlot, exit: AgentExit): Promise<void> {
    return this.serial(async () => {
      const { spool, facts, log, id } = this.parts
      const tail = slot.agent?.process.stderrTail() ?? ""
      const withDaemon = this.parts.shuttingDown()
      const cause = withDaemon ? "predecessor_died" : slot.stopRequested ? "stopped" : "exited"
      log.info("agent.exited", { session_id: id, agent_execution_id: slot.executionId, code: exit.code, signal: exit.signal, cause })
      try {
        spool.append({ kind: "agent.exited", agent_execution_id: slot.executionId, ...exit, cause, stderr_tail: tail })
        if (this.turn?.slot === slot && !withDaemon) {
          const { run_id, prompt_id } = this.turn
          spool.append({
            kind: "turn.failed",
            run_id,
            prompt_id,
            reason: "agent_exited",
            message: describeExit(exit, slot.stopRequested, tail),
          })
        }
        if (this.turn?.slot === slot) {
          if (!withDaemon) this.showUntilDurable(this.turn)
          this.turn = null
        }
        await spool.durable()
        killPoint("exit.spooled")
        await facts.change({ agent: null })
      } catch (error) {
        log.error("agent.end_not_recorded", messageOf(error), { session_id: id })
      }
    })
  }
}

function describeExit({ code, signal }: AgentExit, stopped: boolean, tail: string): string {
  if (stopped) return "The agent was stopped."
  const last = tail.trim().split("\n").at(-1)
  return `The agent ended with ${signal ? `signal ${signal}` : `code ${code}`}${last ? `: ${last}` : "."}`
}
