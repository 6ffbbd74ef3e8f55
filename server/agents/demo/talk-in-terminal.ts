import { createInterface } from "node:readline"
import { type Command, parseCommand } from "./command"
import { Conversation } from "./conversation"

const HELP = "Say: remember WORD, recall, help, quit. Anything else I count."

/** As on the command line: a new conversation, by a name or not; one that is known by its name; the newest of the folder; a copy. */
export interface Wish {
  id: string | undefined
  resume: string | undefined
  fork: string | undefined
  newest: boolean
}

/** The same memory in a terminal of its own, line by line: what a terminal agent is to Rewake, without a model. */
export async function talkInTerminal(folder: string, cwd: string, wish: Wish): Promise<void> {
  const { conversation, greeting } = await open(folder, cwd, wish)
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: "demo> " })
  process.stdout.write(`${greeting}\n`)
  lines.prompt()
  for await (const line of lines) {
    const command = parseCommand(line)
    if (/^(quit|exit)$/i.test(line.trim())) break
    if (line.trim() !== "") {
      await conversation.add({ role: "user", text: line.trim() })
      const answer = answerTo(command, conversation)
      await conversation.add({ role: "agent", text: answer })
      process.stdout.write(`${answer}\n`)
    }
    // The cursor stays behind what was typed meanwhile: at 0, further letters would come before it.
    lines.prompt(true)
  }
  process.exit(0)
}

async function open(folder: string, cwd: string, wish: Wish): Promise<{ conversation: Conversation; greeting: string }> {
  const named = wish.resume ?? wish.fork
  const old = named !== undefined ? await Conversation.load(folder, named) : wish.newest ? await Conversation.latest(folder, cwd) : null
  if (named !== undefined && !old) refuse(`No conversation found with session ID: ${named}`)
  if (old && wish.fork === undefined)
    return { conversation: old, greeting: `Continuing the conversation of ${old.begunAt}; ${heard(old)}.` }
  const conversation = wish.id === undefined ? await Conversation.begin(folder, cwd) : await Conversation.beginAs(folder, cwd, wish.id)
  if (!conversation) return refuse(`Session ID ${wish.id} cannot be used, or is already in use.`)
  for (const said of old?.said ?? []) await conversation.add(said)
  if (old) return { conversation, greeting: `A copy of the conversation of ${old.begunAt}; ${heard(old)}.` }
  return {
    conversation,
    greeting: `${wish.newest ? "There is no conversation to continue; this is a new one." : "A new conversation."} ${HELP}`,
  }
}

const heard = (conversation: Conversation) => `I have heard ${conversation.messagesFromUser()} messages`

function refuse(reason: string): never {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}

function answerTo(command: Command, conversation: Conversation): string {
  if (command.kind === "remember") return `I will remember ${command.word}.`
  if (command.kind === "help") return HELP
  if (command.kind !== "recall") return `That was message ${conversation.messagesFromUser()} of this conversation.`
  const words = conversation.words()
  return words.length > 0 ? `I remember: ${words.join(", ")}` : "I remember nothing yet."
}
