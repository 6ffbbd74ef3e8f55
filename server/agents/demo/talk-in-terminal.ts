import { createInterface } from "node:readline"
import { type Command, parseCommand } from "./command"
import { Conversation, type Place } from "./conversation"

const HELP = "Say: remember WORD, recall, help, quit. Anything else I count."

/** The same memory in a terminal of its own, line by line: what a terminal agent is to Rewake, without a model. */
export async function talkInTerminal(folder: string, place: Place, goOn: boolean): Promise<void> {
  const latest = goOn ? await Conversation.latest(folder, place) : null
  const conversation = latest ?? (await Conversation.begin(folder, place))
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: "demo> " })
  process.stdout.write(`${greeting(conversation, goOn, latest !== null)}\n`)
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
    lines.prompt()
  }
  process.exit(0)
}

function greeting(conversation: Conversation, goOn: boolean, found: boolean): string {
  if (found) return `Continuing the conversation of ${conversation.begunAt}; I have heard ${conversation.messagesFromUser()} messages.`
  return `${goOn ? "There is no conversation to continue; this is a new one." : "A new conversation."} ${HELP}`
}

function answerTo(command: Command, conversation: Conversation): string {
  if (command.kind === "remember") return `I will remember ${command.word}.`
  if (command.kind === "help") return HELP
  if (command.kind !== "recall") return `That was message ${conversation.messagesFromUser()} of this conversation.`
  const words = conversation.words()
  return words.length > 0 ? `I remember: ${words.join(", ")}` : "I remember nothing yet."
}
