import { type Conversation, isObject, type Json, objects, type Said, text, textOf, withoutContext } from "./conversation"
import { type Answer, nextId, type Shape, wholeText } from "./shape"

const usage = { input_tokens: 11, output_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

export const anthropicMessages: Shape = {
  name: "anthropic",
  path: /\/messages$/,
  streams: (body) => body.stream === true,
  read(body): Conversation {
    const tools = objects(body.tools).map((tool) => ({
      name: text(tool.name),
      type: "function",
      namespace: null,
      schema: isObject(tool.input_schema) ? tool.input_schema : {},
    }))
    return { said: objects(body.messages).flatMap(readMessage), tools }
  },
  whole: (body, answer) => ({ ...envelope(body), content: [block(answer)], stop_reason: stopReason(answer), usage }),
  async stream(body, answer, out) {
    const send = (type: string, data: object) => out.event({ type, ...data }, type)
    const content = block(answer)
    send("message_start", { message: { ...envelope(body), content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } })
    const empty = answer.kind === "call" ? { ...content, input: {} } : { type: "text", text: "" }
    send("content_block_start", { index: 0, content_block: empty })
    const delta = (data: object) => send("content_block_delta", { index: 0, delta: data })
    if (answer.kind === "call") delta({ type: "input_json_delta", partial_json: JSON.stringify(answer.args) })
    await out.speak(answer, (piece) => delta({ type: "text_delta", text: piece }))
    send("content_block_stop", { index: 0 })
    send("message_delta", { delta: { stop_reason: stopReason(answer), stop_sequence: null }, usage: { output_tokens: 7 } })
    send("message_stop", {})
  },
  error: (status) => ({ type: "error", error: { type: "api_error", message: `the script says ${status}` } }),
}

/** Results come in a message of the user's, beside text that is the agent's own as a rule. */
function readMessage(message: Json): Said[] {
  const { role } = message
  // Claude puts context of its own into messages of the role "system".
  if (role !== "assistant" && role !== "user") return []
  const parts = typeof message.content === "string" ? [{ type: "text", text: message.content }] : objects(message.content)
  const results = parts.filter(({ type }) => type === "tool_result")
  // A message that was never answered and the next one are sent as parts of one.
  const words = parts.filter(({ type }) => type === "text").map((part): Said => ({ role, text: text(part.text) }))
  if (results.length === 0) return words
  const said = words.filter(({ text }) => withoutContext(text) !== "")
  return [{ role: "tool", text: textOf(results.map(({ content }) => content)) }, ...said]
}

const envelope = (body: Json) => ({
  id: nextId("msg"),
  type: "message",
  role: "assistant",
  model: body.model,
  stop_sequence: null,
})
const stopReason = (answer: Answer) => (answer.kind === "call" ? "tool_use" : "end_turn")
const block = (answer: Answer) =>
  answer.kind === "call"
    ? { type: "tool_use", id: nextId("toolu"), name: answer.tool.name, input: answer.args }
    : { type: "text", text: wholeText(answer) }
