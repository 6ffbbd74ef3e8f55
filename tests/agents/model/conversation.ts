export type Json = Record<string, unknown>

export type Said = { role: "user" | "assistant" | "tool"; text: string }
export type Tool = { name: string; type: string; namespace: string | null; schema: Json }
/** What an agent sent to its model, whichever API it speaks; system prompts left out. */
export type Conversation = { said: Said[]; tools: Tool[] }

export const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
export const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])
export const text = (value: unknown): string => (typeof value === "string" ? value : "")

/** Text of a message's content: a string, or parts of which some carry text. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content
  if (Array.isArray(content)) return content.map(textOf).filter(Boolean).join("\n")
  if (!isObject(content)) return ""
  return textOf(content.text ?? content.content ?? content.output ?? "")
}

/** Agents put context of their own into the user's role; none of it was said by the person. */
export function withoutContext(said: string): string {
  const stripped = said.replace(/<([a-z][\w-]*(?: instructions)?)(?: [^>]*)?>[\s\S]*?<\/\1>/gi, "").trim()
  return /^# AGENTS\.md instructions/.test(stripped) ? "" : stripped
}

/** What the person said, oldest first. */
export const userTexts = ({ said }: Conversation): string[] =>
  said.flatMap(({ role, text }) => (role === "user" && withoutContext(text) !== "" ? [withoutContext(text)] : []))
