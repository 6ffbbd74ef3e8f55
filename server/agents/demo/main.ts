import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import {
  type AgentContext,
  agent,
  type ContentBlock,
  type McpServer,
  methods,
  RequestError,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk"
import { carryOut } from "./carry-out"
import { parseCommand } from "./command"
import { Conversation } from "./conversation"
import { helpText } from "./help-text"
import { readInjectedHistory } from "./injected-history"
import { lookAt } from "./look"
import { asModes, asOptions, type Choices, COMMANDS, chosen, FIRST_CHOICES } from "./options"
import { openStdio } from "./stdio"
import { talkInTerminal } from "./talk-in-terminal"
import { Turn } from "./turn"

/** The agents that ship with Rewake: no model, no account, but the real protocol in a process of their own. */

const VARIANTS = {
  demo: {
    loads: true,
    injected: false,
    sees: true,
    sets: "options",
    memory: "I keep this conversation in a file of my own, so a new process of mine can load it.",
  },
  "demo-inject": {
    loads: false,
    sets: "modes",
    injected: true,
    sees: false,
    memory: "I cannot load an old conversation, but I read the history that is put in front of my first prompt.",
  },
  "demo-forgetful": { loads: false, injected: false, sees: true, sets: "nothing", memory: "I remember only while my process lives." },
} as const

const { values } = parseArgs({
  options: {
    variant: { type: "string", default: "demo" },
    terminal: { type: "boolean" },
    continue: { type: "boolean", default: false },
    "session-id": { type: "string" },
    resume: { type: "string" },
    fork: { type: "string" },
  },
})
const variant = VARIANTS[values.variant as keyof typeof VARIANTS]
if (!variant) {
  process.stderr.write(`unknown variant ${values.variant}\n`)
  process.exit(2)
}

/** What it pretends to have room for, in words and halves of words as models count them. */
const CONTEXT_SIZE = 8192
const folder = join(process.env.REWAKE_DATA_DIR ?? tmpdir(), "demo-agent")

interface Open {
  conversation: Conversation
  cwd: string
  mcpServers: McpServer[]
  choices: Choices
  turn: AbortController | null
}
const open = new Map<string, Open>()

const find = (sessionId: string): Open => {
  const found = open.get(sessionId)
  if (!found) throw RequestError.sessionNotFound(sessionId)
  return found
}

interface Begin {
  cwd: string
  mcpServers: McpServer[]
}

async function load(sessionId: string, place: Begin): Promise<Conversation> {
  const conversation = variant.loads ? await Conversation.load(folder, sessionId) : null
  if (!conversation) throw RequestError.sessionNotFound(sessionId)
  enter(conversation, place)
  return conversation
}

function enter(conversation: Conversation, { cwd, mcpServers }: Begin): void {
  open.set(conversation.id, { conversation, cwd, mcpServers, choices: FIRST_CHOICES, turn: null })
}

/** What can be set, in the answer that opens a conversation; the commands follow it. */
function offer(client: AgentContext, sessionId: string) {
  const update: SessionUpdate = { sessionUpdate: "available_commands_update", availableCommands: COMMANDS }
  setImmediate(() => void client.notify("session/update", { sessionId, update }).catch(() => undefined))
  const { choices } = find(sessionId)
  if (variant.sets === "options") return { configOptions: asOptions(choices) }
  return variant.sets === "modes" ? { modes: asModes(choices) } : {}
}

function choose(sessionId: string, id: string, value: unknown): Choices {
  const session = find(sessionId)
  const choices = chosen(session.choices, id, value)
  if (!choices) throw RequestError.invalidParams({ id, value }, "there is no such choice")
  session.choices = choices
  return choices
}

const app = agent({ name: "rewake-demo" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: 1,
    agentInfo: { name: values.variant, version: "0.1.0" },
    agentCapabilities: {
      loadSession: variant.loads,
      promptCapabilities: { image: variant.sees, embeddedContext: variant.sees },
      ...(variant.loads ? { sessionCapabilities: { resume: {} } } : {}),
    },
    authMethods: [],
  }))
  .onRequest(methods.agent.session.new, async ({ params, client }) => {
    const conversation = await Conversation.begin(variant.loads ? folder : null)
    enter(conversation, params)
    return { sessionId: conversation.id, ...offer(client, conversation.id) }
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    const conversation = await load(params.sessionId, params)
    for (const { role, text } of conversation.said) {
      const update: SessionUpdate = {
        sessionUpdate: role === "user" ? "user_message_chunk" : "agent_message_chunk",
        content: { type: "text", text },
      }
      await client.notify("session/update", { sessionId: params.sessionId, update })
    }
    return offer(client, params.sessionId)
  })
  .onRequest(methods.agent.session.resume, async ({ params, client }) => {
    await load(params.sessionId, { cwd: params.cwd, mcpServers: params.mcpServers ?? [] })
    return offer(client, params.sessionId)
  })
  .onRequest(methods.agent.session.setMode, ({ params }) => {
    choose(params.sessionId, "mode", params.modeId)
    return {}
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => ({
    configOptions: asOptions(choose(params.sessionId, params.configId, params.value)),
  }))
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const session = find(params.sessionId)
    if (session.turn) throw RequestError.invalidRequest(undefined, "a turn is in progress")
    const cancel = new AbortController()
    session.turn = cancel
    try {
      const message = await hear(session.conversation, textOf(params.prompt))
      const turn = new Turn(client, session, cancel.signal, helpText(variant.memory), await lookAt(params.prompt))
      if (session.choices.aloud) await turn.think("Let me see what is asked of me.")
      const stopReason = await untilCancelled(cancel.signal, () => carryOut(turn, parseCommand(message)))
      if (turn.spoken) await session.conversation.add({ role: "agent", text: turn.spoken })
      await turn.send({ sessionUpdate: "usage_update", used: session.conversation.size(), size: CONTEXT_SIZE })
      return { stopReason }
    } finally {
      session.turn = null
    }
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => {
    open.get(params.sessionId)?.turn?.abort(new Error("cancelled"))
  })

/** The message itself, with what was told before it put into memory. */
async function hear(conversation: Conversation, prompt: string): Promise<string> {
  const injected = variant.injected ? readInjectedHistory(prompt) : null
  for (const said of injected?.history ?? []) await conversation.add(said)
  const message = injected?.request ?? prompt
  await conversation.add({ role: "user", text: message })
  return message
}

async function untilCancelled(cancelled: AbortSignal, work: () => Promise<StopReason>): Promise<StopReason> {
  try {
    return await work()
  } catch (error) {
    if (cancelled.aborted) return "cancelled"
    throw error
  }
}

const textOf = (blocks: ContentBlock[]): string => blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")

if (values.terminal) {
  const { "session-id": id, resume, fork, continue: newest } = values
  await talkInTerminal(folder, process.cwd(), { id, resume, fork, newest })
} else {
  const connection = app.connect(openStdio())
  // Without its client an agent has nobody to work for.
  void connection.closed.then(() => process.exit(0))
}
