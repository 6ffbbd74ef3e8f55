import { type Conversation, isObject, objects, type Said, text, textOf } from "./conversation"
import { type Answer, nextId, openaiError, type Shape, wholeText } from "./shape"

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
const ROLES: Record<string, Said["role"]> = { user: "user", assistant: "assistant", tool: "tool" }

export const openaiChat: Shape = {
  name: "openai-chat",
  path: /\/chat\/completions$/,
  streams: (body) => body.stream === true,
  read(body): Conversation {
    const tools = objects(body.tools).map((tool) => {
      const declared = isObject(tool.function) ? tool.function : tool
      const schema = isObject(declared.parameters) ? declared.parameters : {}
      return { name: text(declared.name), type: "function", namespace: null, schema }
    })
    const said = objects(body.messages).flatMap(({ role, content }) => {
      const known = ROLES[text(role)]
      return known ? [{ role: known, text: textOf(content) }] : []
    })
    return { said, tools }
  },
  whole(body, answer) {
    const message = answer.kind === "call" ? { content: null, tool_calls: [call(answer)] } : { content: wholeText(answer) }
    const choice = { index: 0, finish_reason: finish(answer), message: { role: "assistant", ...message } }
    return { ...envelope(body), object: "chat.completion", choices: [choice], usage }
  },
  async stream(body, answer, out) {
    const base = { ...envelope(body), object: "chat.completion.chunk" }
    const chunk = (delta: object, finish_reason: string | null = null) =>
      out.event({ ...base, choices: [{ index: 0, delta, finish_reason }] })
    chunk({ role: "assistant", content: "" })
    if (answer.kind === "call") chunk({ tool_calls: [{ index: 0, ...call(answer) }] })
    await out.speak(answer, (content) => chunk({ content }))
    chunk({}, finish(answer))
    out.event({ ...base, choices: [], usage })
    out.event("[DONE]")
  },
  error: openaiError,
}

const envelope = (body: Record<string, unknown>) => ({ id: nextId("chatcmpl"), created: 1_700_000_000, model: body.model })
const finish = (answer: Answer) => (answer.kind === "call" ? "tool_calls" : "stop")
const call = ({ tool, args }: Extract<Answer, { kind: "call" }>) => ({
  id: nextId("call"),
  type: "function",
  function: { name: tool.name, arguments: JSON.stringify(args) },
})
