import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { waitUntil } from "../../support/wait-until"
import { anthropicMessages } from "./anthropic-messages"
import { type Conversation, isObject, type Json, userTexts } from "./conversation"
import { gemini } from "./gemini"
import { openaiChat } from "./openai-chat"
import { openaiResponses } from "./openai-responses"
import { reply } from "./script"
import { openEventStream, type Shape } from "./shape"

const SHAPES: readonly Shape[] = [anthropicMessages, openaiChat, openaiResponses, gemini]
const LIST = { object: "list", data: [{ id: "scripted", object: "model", type: "model", display_name: "Scripted" }], models: [] }

/** One call of an agent to its model, with the body as it was sent. */
export type ModelRequest = { shape: string; body: string; conversation: Conversation }
export type Model = Awaited<ReturnType<typeof startModel>>

/** A model on loopback that answers by script and keeps every request: what an agent remembers is what it sends. */
export async function startModel() {
  const requests: ModelRequest[] = []
  const held = new Map<http.ServerResponse, () => void>()
  const hold = (response: http.ServerResponse) =>
    new Promise<void>((resolve) => {
      const goOn = () => {
        if (held.delete(response)) resolve()
      }
      held.set(response, goOn)
      // Nobody lets an answer go on whose agent was killed.
      response.once("close", goOn)
    })
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      void answer(request, Buffer.concat(chunks).toString("utf8"), response, requests, hold).catch(() => response.destroy())
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** Turns whose last words by the person contain these. Titles and the like are asked for without tools and are none. */
    asked: (words: string) =>
      requests.filter(({ conversation }) => conversation.tools.length > 0 && (userTexts(conversation).at(-1) ?? "").includes(words)),
    /** Waits until an answer is held, and lets it go on to its next hold or its end. */
    async letGoOn() {
      const goOn = await waitUntil(() => held.values().next().value, "an answer that is held")
      goOn()
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

async function answer(
  request: http.IncomingMessage,
  body: string,
  response: http.ServerResponse,
  requests: ModelRequest[],
  hold: (response: http.ServerResponse) => Promise<void>,
) {
  const { pathname } = new URL(request.url ?? "/", "http://model")
  const shape = request.method === "POST" ? SHAPES.find(({ path }) => path.test(pathname)) : undefined
  if (!shape) return answerOther(request.method ?? "", pathname, response)
  const parsed: unknown = JSON.parse(body)
  const asked: Json = isObject(parsed) ? parsed : {}
  const conversation = shape.read(asked)
  requests.push({ shape: shape.name, body, conversation })
  const scripted = reply(conversation)
  if (scripted.kind === "error") return json(response, scripted.status, shape.error(scripted.status))
  if (!shape.streams(asked, pathname)) return json(response, 200, shape.whole(asked, scripted))
  await shape.stream(
    asked,
    scripted,
    openEventStream(response, () => hold(response)),
  )
  response.end()
}

function answerOther(method: string, path: string, response: http.ServerResponse) {
  if (method === "GET" && path.endsWith("/models")) return json(response, 200, LIST)
  if (/count_?tokens$/i.test(path)) return json(response, 200, { input_tokens: 11, totalTokens: 11 })
  return json(response, 404, { error: { message: `no ${method} ${path} here`, type: "not_found" } })
}

function json(response: http.ServerResponse, status: number, value: object) {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(value))
}
