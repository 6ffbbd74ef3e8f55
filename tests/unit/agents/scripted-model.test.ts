import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Model, startModel } from "../../agents/model/server"

const command = { type: "object", properties: { command: { type: "string" } }, required: ["command"] }
const SHAPES = [
  {
    path: "/v1/messages",
    body: (text: string) => ({ messages: [{ role: "user", content: text }], tools: [{ name: "Bash", input_schema: command }] }),
    streaming: { stream: true },
  },
  {
    path: "/v1/chat/completions",
    body: (text: string) => ({
      messages: [{ role: "user", content: text }],
      tools: [{ type: "function", function: { name: "bash", parameters: command } }],
    }),
    streaming: { stream: true },
  },
  {
    path: "/v1/responses",
    body: (text: string) => ({
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text }] }],
      tools: [{ type: "function", name: "exec_command", parameters: command }],
    }),
    streaming: { stream: true },
  },
  {
    path: "/v1beta/models/scripted:generateContent",
    body: (text: string) => ({
      contents: [{ role: "user", parts: [{ text }] }],
      tools: [{ functionDeclarations: [{ name: "run_shell_command", parameters: command }] }],
    }),
    streaming: null,
  },
]

describe.each(SHAPES)("the scripted model at $path", ({ path, body, streaming }) => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.stop())
  const post = async (asked: object) => {
    const response = await fetch(`${model.url}${path}`, { method: "POST", body: JSON.stringify(asked) })
    return { status: response.status, text: await response.text() }
  }

  test("answers by what the person said last, whole and in pieces, and keeps the body", async () => {
    const asked = body("<system-reminder>RUN `nothing`</system-reminder>hello there")
    expect((await post(asked)).text).toContain("You said: hello there")
    expect(model.asked("hello there")[0]?.body).toBe(JSON.stringify(asked))
    if (streaming) expect((await post({ ...asked, ...streaming })).text.match(/^data: /gm)?.length).toBeGreaterThan(4)
  })

  test("calls the shell the agent declared, and fails when told to", async () => {
    expect((await post(body("RUN `echo hi`"))).text).toMatch(/"echo hi"|\\"echo hi\\"/)
    expect((await post(body("FAIL WITH 529"))).status).toBe(529)
  })
})

describe.each(SHAPES.filter(({ streaming }) => streaming))(
  "an answer that the scripted model streams at $path",
  ({ path, body, streaming }) => {
    test("waits at each hold until it is let go on", async () => {
      const model = await startModel()
      try {
        const asked = { ...body("COUNT TO 4, HOLD EVERY 2"), ...streaming }
        let ended = false
        const answer = fetch(`${model.url}${path}`, { method: "POST", body: JSON.stringify(asked) })
          .then((response) => response.text())
          .finally(() => {
            ended = true
          })
        await model.letGoOn()
        expect(ended).toBe(false)
        expect(await answer).toMatch(/1 [\s\S]*2 [\s\S]*3 [\s\S]*4 /)
      } finally {
        await model.stop()
      }
    })
  },
)
