import { type Conversation, type Json, type Tool, userTexts } from "./conversation"
import { shellCall } from "./shell-tool"

export type Reply =
  | { kind: "text"; pieces: string[]; pause_ms: number }
  | { kind: "call"; tool: Tool; args: Json }
  | { kind: "error"; status: number }

/** How long the pieces of a slow answer are apart. */
const SLOW_PIECE_MS = 100

/** What this model answers: decided by the last thing the person said, and by nothing else it knows. Pure. */
export function reply(conversation: Conversation): Reply {
  const last = userTexts(conversation).at(-1) ?? ""
  const failure = /\bFAIL WITH (\d{3})\b/.exec(last)?.[1]
  if (failure) return { kind: "error", status: Number(failure) }
  const slowly = /\bCOUNT SLOWLY TO (\d+)\b/.exec(last)?.[1]
  if (slowly) return { kind: "text", pieces: Array.from({ length: Number(slowly) }, (_, i) => `${i + 1} `), pause_ms: SLOW_PIECE_MS }
  const command = /\bRUN `([^`]+)`/.exec(last)?.[1]
  if (!command) return say(`You said: ${last}`)
  const result = conversation.said.at(-1)
  if (result?.role === "tool") return say(`The command answered: ${result.text.trim()}`)
  const call = shellCall(conversation.tools, command)
  return call ? { kind: "call", ...call } : say("I have no shell.")
}

const say = (words: string): Reply => ({ kind: "text", pieces: words.match(/\S+\s*/g) ?? [words], pause_ms: 0 })
