import {
  type ClientConnection,
  client,
  type ListSessionsResponse,
  methods,
  type NewSessionRequest,
  type PromptCapabilities,
} from "@agentclientprotocol/sdk"
import type { PutAgent, Recollection } from "../../../lib/contracts/agentctl/protocol"
import { Failure, messageOf } from "../failure"
import { Permissions } from "../permissions"
import { Recorder } from "../recorder"
import type { Spool } from "../spool"
import { type AgentExit, AgentProcess, agentEnvironment, secretsIn } from "./agent-process"
import { readTextFile, writeTextFile } from "./fs"
import { type Attached, promptBlocks } from "./prompt-blocks"
import { Terminals } from "./terminals"
import { openWire, type Wire } from "./wire"

/** An agent that has not answered by then is reported as failed to start. */
export const INITIALIZE_TIMEOUT_MS = 60_000
/** Together with the above below the two minutes a server waits, so that it hears why. */
const SESSION_TIMEOUT_MS = 50_000
/** Some agents answer a load first and repeat the conversation then; one that has repeated nothing by now has nothing. */
const REPLAY_GRACE_MS = 2000
/** It is asked only what it would take a glance to say; without an answer by then there is no evidence either way. */
const LIST_TIMEOUT_MS = 5000
const LIST_MAX_PAGES = 10
const AUTH_REQUIRED = -32000
const ACP_VERSION = 1

/** Which conversation it is to be; a `resolve` has been resolved by then. */
export type Conversation = Exclude<PutAgent["start"], { kind: "resolve" }>

export interface Begun {
  strategy: "new" | "loaded" | "resumed"
  agent_session_id: string
  capabilities: { load: boolean; resume: boolean }
  recollection?: Recollection
}

/** One agent, spoken to in the Agent Client Protocol. */
export class Agent {
  readonly recorder: Recorder
  readonly permissions: Permissions
  /** After its last output has been recorded. */
  readonly exit: Promise<AgentExit>
  private readonly terminals: Terminals
  private readonly wire: Wire
  private readonly connection: ClientConnection
  private agentSessionId = ""
  private mayAsk = false
  private takes: PromptCapabilities = {}

  constructor(
    readonly process: AgentProcess,
    private readonly workspace: string,
    private readonly attachments: string,
    spool: Spool,
    env: NodeJS.ProcessEnv,
  ) {
    this.recorder = new Recorder(spool, (id) => this.terminals.snapshot(id))
    this.permissions = new Permissions(this.recorder)
    this.terminals = new Terminals(workspace, env, (id, ended) => this.recorder.terminalChanged(id, ended))
    this.wire = openWire(process.stdin, process.stdout, {
      update: (params) => this.recorder.update(params.update),
      garbage: (line) => process.keepStderr(Buffer.from(`${line.slice(0, 500)}\n`)),
      oversized: (sha256, bytes) =>
        this.recorder.record({ kind: "record.rejected", sha256, reason: `a message of ${bytes} bytes is too large` }),
      room: () => spool.room(process.gone.signal),
    })
    this.connection = this.connect()
    this.exit = process.exit.then(async (exit) => {
      this.terminals.endAll()
      await process.afterExit(this.wire.drained)
      this.permissions.abandon()
      return exit
    })
    // An agent that closed its output can never answer again.
    void this.connection.closed.then(() => this.end())
  }

  static async spawn(options: {
    sessionId: string
    body: PutAgent
    workspace: string
    attachments: string
    dataDir: string
    spool: Spool
  }): Promise<Agent> {
    const { sessionId, body, workspace, attachments, dataDir, spool } = options
    const env = agentEnvironment(dataDir, { sessionId, executionId: body.agent_execution_id }, body.env)
    const process = await AgentProcess.spawn({
      executionId: body.agent_execution_id,
      command: body.command,
      args: body.args,
      env,
      cwd: workspace,
      dataDir,
      secrets: secretsIn(body.env),
    })
    return new Agent(process, workspace, attachments, spool, env)
  }

  /** Up to a conversation that can be prompted. */
  async begin(start: Conversation): Promise<Begun> {
    const initialized = await this.within(
      INITIALIZE_TIMEOUT_MS,
      this.connection.agent.request(methods.agent.initialize, {
        protocolVersion: ACP_VERSION,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
        clientInfo: { name: "rewake", version: "0.1.0" },
      }),
    ).catch((error) => {
      throw startFailed(error)
    })
    if (initialized.protocolVersion !== ACP_VERSION) {
      throw new Failure("AGENT_START_FAILED", `The agent speaks protocol version ${initialized.protocolVersion}, not ${ACP_VERSION}.`)
    }
    const offered = initialized.agentCapabilities
    this.takes = offered?.promptCapabilities ?? {}
    const capabilities = { load: offered?.loadSession === true, resume: offered?.sessionCapabilities?.resume != null }
    const strategy = await this.openConversation(start, capabilities)
    const recollection = await this.recollect(strategy, offered?.sessionCapabilities?.list != null)
    this.mayAsk = true
    return { strategy, agent_session_id: this.agentSessionId, capabilities, ...(recollection ? { recollection } : {}) }
  }

  /** The stop reason. Rejects with the agent's error, or with one that has no code when the connection ended. */
  async prompt(content: string, attached: readonly Attached[]): Promise<string> {
    this.recorder.replaying = false
    const answer = await this.connection.agent.request(methods.agent.session.prompt, {
      sessionId: this.agentSessionId,
      prompt: promptBlocks(content, attached, this.takes),
    })
    return String(answer?.stopReason ?? "end_turn")
  }

  async cancel(): Promise<void> {
    this.mayAsk = false
    const told = this.connection.agent.notify(methods.agent.session.cancel, { sessionId: this.agentSessionId })
    await this.permissions.cancelAll()
    // Rejected when the agent has just ended; its exit tells the rest.
    await told.catch(() => undefined)
  }

  turnBegan(runId: string): void {
    this.recorder.endMessage()
    this.recorder.runId = runId
    this.mayAsk = true
  }

  end(): Promise<void> {
    return this.process.end()
  }

  private async openConversation(start: Conversation, capabilities: Begun["capabilities"]): Promise<Begun["strategy"]> {
    const agent = this.connection.agent
    const place: NewSessionRequest = { cwd: this.workspace, mcpServers: [] }
    if (start.kind === "new") {
      const opened = await this.within(SESSION_TIMEOUT_MS, agent.request(methods.agent.session.new, place)).catch((error) => {
        throw startFailed(error)
      })
      if (typeof opened?.sessionId !== "string") throw new Failure("AGENT_START_FAILED", "The agent gave its session no id.")
      this.agentSessionId = opened.sessionId
      return "new"
    }
    this.agentSessionId = start.agent_session_id
    this.recorder.replaying = true
    if (!capabilities.resume && !capabilities.load) {
      throw new Failure("AGENT_SESSION_REJECTED", "The agent can neither resume nor load a session.")
    }
    const request = { ...place, sessionId: start.agent_session_id }
    await this.within(
      SESSION_TIMEOUT_MS,
      capabilities.resume ? agent.request(methods.agent.session.resume, request) : agent.request(methods.agent.session.load, request),
    ).catch((error) => {
      // Only the agent's own word rejects the session; a crash or a missing sign-in says nothing about it.
      const code = rpcCode(error)
      if (code === null || code === AUTH_REQUIRED) throw startFailed(error)
      throw new Failure("AGENT_SESSION_REJECTED", rpcText(error))
    })
    return capabilities.resume ? "resumed" : "loaded"
  }

  /** An agent may accept an id it knows nothing of. What it repeats, or names as its own, tells. */
  private async recollect(strategy: Begun["strategy"], lists: boolean): Promise<Recollection | null> {
    if (strategy === "loaded") return { kind: "replay", updates: await this.recorder.repeated(REPLAY_GRACE_MS) }
    if (strategy === "new" || !lists) return null
    return this.within(LIST_TIMEOUT_MS, this.findInList()).catch(() => null)
  }

  private async findInList(): Promise<Recollection | null> {
    let cursor: string | null = null
    for (let page = 0; page < LIST_MAX_PAGES; page++) {
      const { sessions, nextCursor }: ListSessionsResponse = await this.connection.agent.request(methods.agent.session.list, {
        cwd: this.workspace,
        ...(cursor === null ? {} : { cursor }),
      })
      if (sessions.some(({ sessionId }) => sessionId === this.agentSessionId)) return { kind: "list", listed: true }
      if (!nextCursor) return { kind: "list", listed: false }
      cursor = nextCursor
    }
    return null
  }

  private connect(): ClientConnection {
    const { client: to } = methods
    return client({ name: "rewake" })
      .onRequest(to.session.requestPermission, ({ params, requestId }) => {
        if (!this.mayAsk) return { outcome: { outcome: "cancelled" as const } }
        return this.permissions.ask(params, Promise.race([this.wire.answered(requestId), this.exit.then(() => undefined)]))
      })
      .onRequest(to.fs.readTextFile, async ({ params }) => ({ content: await readTextFile([this.workspace, this.attachments], params) }))
      .onRequest(to.fs.writeTextFile, ({ params }) => writeTextFile(this.workspace, params))
      .onRequest(to.terminal.create, ({ params }) => ({ terminalId: this.terminals.create(params).terminalId }))
      .onRequest(to.terminal.output, ({ params }) => this.terminals.output(params.terminalId))
      .onRequest(to.terminal.waitForExit, ({ params }) => this.terminals.waitForExit(params.terminalId))
      .onRequest(to.terminal.kill, ({ params }) => this.terminals.kill(params.terminalId))
      .onRequest(to.terminal.release, ({ params }) => this.terminals.release(params.terminalId))
      .connect(this.wire.stream)
  }

  private within<T>(ms: number, answer: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`it did not answer within ${ms / 1000} s`)), ms)
    })
    const ended = this.exit.then(({ code, signal }) => {
      throw new Error(`it ended with ${signal ? `signal ${signal}` : `code ${code}`}`)
    })
    // A closed connection rejects first and says nothing; what the process ended with does.
    const told = answer.catch((error) => (rpcCode(error) === null && !(error instanceof Failure) ? ended : Promise.reject(error)))
    return Promise.race([told, late, ended])
      .catch((error) => {
        throw rpcCode(error) === null ? new Error(`${messageOf(error)}${this.lastWords()}`) : error
      })
      .finally(() => clearTimeout(timer))
  }

  private lastWords(): string {
    const tail = this.process.stderrTail().trim()
    return tail ? `: ${tail.slice(-1000)}` : ""
  }
}

export const rpcCode = (error: unknown): number | null => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === "number" ? code : null
}

/** The agent's error as it gave it: there is no common one, and people search for the text. */
export function rpcText(error: unknown): string {
  const data = (error as { data?: unknown } | null)?.data
  const details = data === undefined ? "" : ` ${JSON.stringify(data).slice(0, 1000)}`
  return `${messageOf(error)} (${rpcCode(error)})${details}`
}

const startFailed = (error: unknown): Failure =>
  new Failure("AGENT_START_FAILED", `The agent failed to start: ${rpcCode(error) === null ? messageOf(error) : rpcText(error)}`)
