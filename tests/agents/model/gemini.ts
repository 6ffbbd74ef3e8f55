import { type Conversation, isObject, objects, type Said, text, textOf } from "./conversation"
import { type Answer, nextId, type Shape, wholeText } from "./shape"

const usageMetadata = { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 }

export const gemini: Shape = {
  name: "gemini",
  path: /\/models\/[^/:]+:(generateContent|streamGenerateContent)$/,
  streams: (_, path) => path.endsWith(":streamGenerateContent"),
  read(body): Conversation {
    const declared = objects(body.tools).flatMap((tool) => objects(tool.functionDeclarations))
    const tools = declared.map((tool) => {
      const schema = tool.parametersJsonSchema ?? tool.parameters
      return { name: text(tool.name), type: "function", namespace: null, schema: isObject(schema) ? schema : {} }
    })
    return { said: objects(body.contents).flatMap(readContent), tools }
  },
  whole: (_, answer) => part(partOf(answer), true),
  async stream(_, answer, out) {
    if (answer.kind === "call") return out.event(part(partOf(answer), true))
    await out.speak(answer, (piece) => out.event(part({ text: piece }, false)))
    out.event(part({ text: "" }, true))
  },
  error: (status) => ({ error: { code: status, message: `the script says ${status}`, status: "UNAVAILABLE" } }),
}

function readContent(content: Record<string, unknown>): Said[] {
  const parts = objects(content.parts)
  const results = parts.flatMap(({ functionResponse }) => (isObject(functionResponse) ? [JSON.stringify(functionResponse.response)] : []))
  const words = textOf(parts.filter(({ thought }) => thought !== true))
  const said: Said[] = words === "" ? [] : [{ role: content.role === "model" ? "assistant" : "user", text: words }]
  return results.length > 0 ? [...said, { role: "tool", text: results.join("\n") }] : said
}

const partOf = (answer: Answer) =>
  answer.kind === "call" ? { functionCall: { name: answer.tool.name, args: answer.args } } : { text: wholeText(answer) }

const part = (content: object, last: boolean) => ({
  candidates: [{ index: 0, content: { role: "model", parts: [content] }, ...(last ? { finishReason: "STOP" } : {}) }],
  usageMetadata,
  modelVersion: "scripted",
  responseId: nextId("gem"),
})
