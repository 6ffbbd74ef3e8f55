import { type Conversation, isObject, type Json, objects, type Said, type Tool, text, textOf } from "./conversation"
import { type Answer, nextId, openaiError, type Shape, wholeText } from "./shape"

const usage = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 18,
}

export const openaiResponses: Shape = {
  name: "openai-responses",
  path: /\/responses$/,
  streams: (body) => body.stream === true,
  read(body): Conversation {
    const items = typeof body.input === "string" ? [{ role: "user", content: body.input }] : objects(body.input)
    return { said: items.flatMap(readItem), tools: objects(body.tools).flatMap((tool) => readTool(tool, null)) }
  },
  whole: (body, answer) => response(nextId("resp"), body, "completed", [item(answer)]),
  async stream(body, answer, out) {
    const id = nextId("resp")
    const done = item(answer)
    let sequence_number = 0
    const send = (type: string, data: object) => out.event({ type, sequence_number: sequence_number++, ...data }, type)
    const at = { item_id: done.id, output_index: 0, content_index: 0 }
    send("response.created", { response: response(id, body, "in_progress", []) })
    const begun = answer.kind === "call" ? { ...done, arguments: "" } : { ...done, content: [] }
    send("response.output_item.added", { output_index: 0, item: { ...begun, status: "in_progress" } })
    if (answer.kind === "call") {
      send("response.function_call_arguments.delta", { item_id: done.id, output_index: 0, delta: done.arguments })
      send("response.function_call_arguments.done", { item_id: done.id, output_index: 0, arguments: done.arguments })
    } else {
      const part = { type: "output_text", text: "", annotations: [] }
      send("response.content_part.added", { ...at, part })
      await out.speak(answer, (delta) => send("response.output_text.delta", { ...at, delta }))
      send("response.output_text.done", { ...at, text: wholeText(answer) })
      send("response.content_part.done", { ...at, part: { ...part, text: wholeText(answer) } })
    }
    send("response.output_item.done", { output_index: 0, item: done })
    send("response.completed", { response: response(id, body, "completed", [done]) })
  },
  error: openaiError,
}

function readItem(entry: Json): Said[] {
  if (/_call_output$/.test(text(entry.type))) return [{ role: "tool", text: textOf(entry.output) }]
  if (entry.role === "user" || entry.role === "assistant") return [{ role: entry.role, text: textOf(entry.content) }]
  return []
}

/** Some tools come in a namespace, and are called by it. */
function readTool(tool: Json, namespace: string | null): Tool[] {
  if (tool.type === "namespace") return objects(tool.tools).flatMap((inner) => readTool(inner, text(tool.name)))
  const schema = isObject(tool.parameters) ? tool.parameters : {}
  return [{ name: text(tool.name) || text(tool.type), type: text(tool.type), namespace, schema }]
}

function item(answer: Answer): Json {
  if (answer.kind === "text") {
    const content = [{ type: "output_text", text: wholeText(answer), annotations: [] }]
    return { type: "message", id: nextId("msg"), role: "assistant", status: "completed", content }
  }
  const { tool, args } = answer
  const call = { id: nextId("fc"), call_id: nextId("call"), status: "completed" }
  if (tool.type === "local_shell") {
    return { ...call, type: "local_shell_call", action: { type: "exec", command: ["bash", "-lc", text(args.command)], env: {} } }
  }
  const namespace = tool.namespace === null ? {} : { namespace: tool.namespace }
  return { ...call, type: "function_call", name: tool.name, ...namespace, arguments: JSON.stringify(args) }
}

const response = (id: string, body: Json, status: "in_progress" | "completed", output: Json[]): Json => ({
  id,
  object: "response",
  created_at: 1_700_000_000,
  model: body.model,
  status,
  output,
  usage: status === "completed" ? usage : null,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: "auto",
  tools: [],
  top_p: 1,
})
