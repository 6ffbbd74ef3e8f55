import {
  type AgentCapabilities,
  type ClientConnection,
  client,
  type InitializeResponse,
  type ListSessionsResponse,
  methods,
  type NewSessionRequest,
} from "@agentclientprotocol/sdk"
import type { OptionValues, RefusedOption, SignInMethod } from "../../../lib/contracts/agent-setup"
import type { PutAgent, Recollection } from "../../../lib/contracts/agentctl/protocol"
import { DURATIONS } from "../../../lib/host/durations"
import { Failure, messageOf } from "../failure"
import { Permissions } from "../permissions"
import { Recorder } from "../recorder"
import type { RejectedFiles } from "../rejected-files"
import type { Spool } from "../spool"
import { type AgentExit, AgentProcess, agentEnvironment, secretsIn } from "./agent-process"
import { readTextFile, writeTextFile } from "./fs"
import { acceptable, mcpSecrets } from "./mcp-servers"
import { type Attached, promptBlocks } from "./prompt-blocks"
import { Settings } from "./settings"
import { readOptions, readSignIn } from "./setup"
import { Terminals } from "./terminals"
import { openWire, type Wire } from "./wire"

/** An agent that has not answered by then is reported as failed to start. */
export const INITIALIZE_TIMEOUT_MS = 60_000
/** Together with the above below the two minutes a server waits, so that it hears why. */
const SESSION_TIMEOUT_MS = 50_000
/** A person signs in meanwhile, in a browser that the agent opened. */
const SIGN_IN_TIMEOUT_MS = 5 * 60_000
/** An agent that is set while it starts must not use up the time it has for that. */
const SETTING_TIMEOUT_MS = 5000
/** Told for its own book-keeping; what it keeps on disk is kept either way. */
const CLOSE_TIMEOUT_MS = 500
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
  refused_options?: RefusedOption[]
}

/** What an agent is to be like when it begins. */
export type Beginning = { start: Conversation } & Pick<PutAgent, "options" | "mcp_servers" | "sign_in">

/** One agent, spoken to in the Agent Client Protocol. */
export class Agent {
  readonly recorder: Recorder
  readonly permissions: Permissions
  readonly settings: Settings
  /** After its last output has been recorded. */
  readonly exit: Promise<AgentExit>
  private readonly terminals: Terminals
  private readonly wire: Wire
  private readonly connection: ClientConnection
  private agentSessionId = ""
  private offered: AgentCapabilities = {}
  private mayAsk = false

  constructor(
    readonly process: AgentProcess,
    private readonly workspace: string,
    private readonly attachments: string,
    spool: Spool,
    env: NodeJS.ProcessEnv,
    rejected: RejectedFiles,
  ) {
    this.recorder = new Recorder(spool, (id) => this.terminals.snapshot(id), rejected)
    this.permissions = new Permissions(this.recorder)
    this.terminals = new Terminals(workspace, env, (id, ended) => this.recorder.terminalChanged(id, ended))
    this.wire = openWire(process.stdin, process.stdout, {
      update: (params) => {
        if (!this.settings.update(params.update)) this.recorder.update(params.update)
      },
      garbage: (line) => process.keepStderr(Buffer.from(`${line.slice(0, 500)}\n`)),
      beginRejected: () => rejected.begin(),
      rejected: ({ sha256, kept }, reason) => this.recorder.record({ kind: "record.rejected", sha256, reason, kept }),
      room: () => spool.room(process.gone.signal),
    })
    this.connection = this.connect()
    const setting = <T>(call: (sessionId: string) => Promise<T>) => this.within(SETTING_TIMEOUT_MS, call(this.agentSessionId))
    this.settings = new Settings(
      {
        setMode: (modeId) => setting((sessionId) => this.connection.agent.request(methods.agent.session.setMode, { sessionId, modeId })),
        setOption: (configId, value) =>
          setting((sessionId) =>
            this.connection.agent.request(
              methods.agent.session.setConfigOption,
              typeof value === "boolean" ? { sessionId, configId, type: "boolean", value } : { sessionId, configId, value },
            ),
          ),
        explain: (error) => (rpcCode(error) === null ? messageOf(error) : rpcText(error)),
      },
      (setup) => this.recorder.aside({ kind: "agent.setup_announced", setup }),
    )
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
    rejected: RejectedFiles
  }): Promise<Agent> {
    const { sessionId, body, workspace, attachments, dataDir, spool, rejected } = options
    const env = agentEnvironment(dataDir, { sessionId, executionId: body.agent_execution_id }, body.env)
    const process = await AgentProcess.spawn({
      executionId: body.agent_execution_id,
      command: body.command,
      args: body.args,
      env,
      cwd: workspace,
      dataDir,
      secrets: [...secretsIn(body.env), ...mcpSecrets(body.mcp_servers ?? [])],
    })
    return new Agent(process, workspace, attachments, spool, env, rejected)
  }

  /** Up to a conversation that can be prompted. */
  async begin({ start, options, mcp_servers, sign_in }: Beginning): Promise<Begun> {
    const initialized = await this.initialize()
    const methods = readSignIn(initialized.authMethods)
    try {
      if (sign_in !== undefined) await this.signIn(sign_in)
      return await this.beginConversation(start, mcp_servers ?? [], methods, options ?? {})
    } catch (error) {
      // Whatever it failed at, signing in may be the way out, and only a live agent knows how.
      throw error instanceof Failure ? new Failure(error.code, error.message, { ...error.details, sign_in: methods }) : error
    }
  }

  private async initialize(): Promise<InitializeResponse> {
    const initialized = await this.within(
      INITIALIZE_TIMEOUT_MS,
      this.connection.agent.request(methods.agent.initialize, {
        protocolVersion: ACP_VERSION,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true, auth: { terminal: true } },
        clientInfo: { name: "rewake", version: "0.1.0" },
      }),
    ).catch((error) => {
      throw startFailed(error)
    })
    if (initialized.protocolVersion !== ACP_VERSION) {
      throw new Failure("AGENT_START_FAILED", `The agent speaks protocol version ${initialized.protocolVersion}, not ${ACP_VERSION}.`)
    }
    this.offered = initialized.agentCapabilities ?? {}
    return initialized
  }

  private async signIn(methodId: string): Promise<void> {
    await this.within(SIGN_IN_TIMEOUT_MS, this.connection.agent.request(methods.agent.authenticate, { methodId })).catch((error) => {
      throw startFailed(error)
    })
  }

  private async beginConversation(
    start: Conversation,
    servers: NonNullable<PutAgent["mcp_servers"]>,
    signIn: SignInMethod[],
    options: OptionValues,
  ): Promise<Begun> {
    const capabilities = { load: this.offered.loadSession === true, resume: this.offered.sessionCapabilities?.resume != null }
    const given = acceptable(servers, this.offered.mcpCapabilities ?? {})
    const { strategy, answer } = await this.openConversation(start, capabilities, { cwd: this.workspace, mcpServers: given })
    this.settings.begin({
      options: readOptions(answer),
      sign_in: signIn,
      mcp_servers: servers.map(({ name }) => ({ name, given: given.some((server) => server.name === name) })),
    })
    const recollection = await this.recollect(strategy, this.offered.sessionCapabilities?.list != null)
    // Before anybody can prompt it: an agent that has forgotten its mode may be in one that allows more.
    const refused = await this.settings.apply(options)
    this.mayAsk = true
    return {
      strategy,
      agent_session_id: this.agentSessionId,
      capabilities,
      ...(recollection ? { recollection } : {}),
      ...(refused.length > 0 ? { refused_options: refused } : {}),
    }
  }

  /** The stop reason. Rejects with the agent's error, or with one that has no code when the connection ended. */
  async prompt(content: string, attached: readonly Attached[]): Promise<string> {
    this.recorder.replaying = false
    const answer = await this.connection.agent.request(methods.agent.session.prompt, {
      sessionId: this.agentSessionId,
      prompt: promptBlocks(content, attached, this.offered.promptCapabilities ?? {}),
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

  async end(): Promise<void> {
    // A turn in progress would be told as cancelled, which nobody asked for.
    const quiet = this.agentSessionId !== "" && this.recorder.runId === null && !this.process.gone.signal.aborted
    if (quiet && this.offered.sessionCapabilities?.close != null) {
      const closed = this.connection.agent.request(methods.agent.session.close, { sessionId: this.agentSessionId })
      await this.within(CLOSE_TIMEOUT_MS, closed).catch(() => undefined)
    }
    await this.process.end()
  }

  private async openConversation(
    start: Conversation,
    capabilities: Begun["capabilities"],
    place: NewSessionRequest,
  ): Promise<{ strategy: Begun["strategy"]; answer: unknown }> {
    const agent = this.connection.agent
    if (start.kind === "new") {
      const opened = await this.within(SESSION_TIMEOUT_MS, agent.request(methods.agent.session.new, place)).catch((error) => {
        throw startFailed(error)
      })
      if (typeof opened?.sessionId !== "string") throw new Failure("AGENT_START_FAILED", "The agent gave its session no id.")
      this.agentSessionId = opened.sessionId
      return { strategy: "new", answer: opened }
    }
    this.agentSessionId = start.agent_session_id
    this.recorder.replaying = true
    if (!capabilities.resume && !capabilities.load) {
      throw new Failure("AGENT_SESSION_REJECTED", "The agent can neither resume nor load a session.")
    }
    const request = { ...place, sessionId: start.agent_session_id }
    const answer: unknown = await this.within(
      SESSION_TIMEOUT_MS,
      capabilities.resume ? agent.request(methods.agent.session.resume, request) : agent.request(methods.agent.session.load, request),
    ).catch((error) => {
      // Only the agent's own word rejects the session; a crash or a missing sign-in says nothing about it.
      const code = rpcCode(error)
      if (code === null || code === AUTH_REQUIRED) throw startFailed(error)
      throw new Failure("AGENT_SESSION_REJECTED", rpcText(error))
    })
    return { strategy: capabilities.resume ? "resumed" : "loaded", answer }
  }

  /** An agent may accept an id it knows nothing of. What it repeats, or names as its own, tells. */
  private async recollect(strategy: Begun["strategy"], lists: boolean): Promise<Recollection | null> {
    if (strategy === "loaded") return { kind: "replay", updates: await this.recorder.repeated(DURATIONS.replayGraceMs) }
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
