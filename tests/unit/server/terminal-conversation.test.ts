import { describe, expect, test } from "vitest"
import type { PtyState } from "../../../lib/contracts/agentctl/ptys"
import { judgeTraces } from "../../../server/agentctl/pty/conversation"
import { codex } from "../../../server/agents/built-in/codex"
import { opencode } from "../../../server/agents/built-in/opencode"
import { conversationOf, planStart, type TabConversation } from "../../../server/workers/conversation"

const program = {
  ...{ program: "x", args: [], begin: ["--session-id", "{id}"], again: ["--resume", "{id}"], newest: ["--continue"] },
  fork: ["--resume", "{from}", "--fork", "{id}"],
}
const tab = (part: Partial<TabConversation>): TabConversation => ({ id: null, forked_from: null, ran: false, unclear: false, ...part })
const fileOf = (id: string) => [{ path: `/files/${id}`, as: id }]
const wordsOf = (plan: ReturnType<typeof planStart>) => [...plan.rather, plan].map(({ args, label }) => [args.join(" "), label])

describe("how a tab's agent is started", () => {
  test("its own conversation if its file is there, else the copy if its source is there, else a new one under the same name", () => {
    const plan = planStart(program, tab({ id: "b", forked_from: "a" }), fileOf)
    expect(wordsOf(plan)).toEqual([
      ["--resume b", "conversation continued"],
      ["--resume a --fork b", "conversation forked"],
      ["--session-id b", "new conversation"],
    ])
    expect(plan.rather.map(({ needs }) => needs[0]?.path)).toEqual(["/files/b", "/files/a"])
  })

  test("without a file to look for, one is continued only where it ran", () => {
    expect(wordsOf(planStart(program, tab({ id: "a" }), () => []))).toEqual([["--session-id a", "new conversation"]])
    expect(wordsOf(planStart(program, tab({ id: "a", ran: true }), () => []))).toEqual([["--resume a", "conversation continued"]])
  })

  test("the newest of the folder is taken only when the own one cannot be known, and is called what it is", () => {
    const blind = { ...program, begin: [], again: null, fork: null }
    expect(wordsOf(planStart(blind, tab({ ran: true }), () => []))).toEqual([["--continue", "newest conversation of this folder"]])
    expect(wordsOf(planStart(blind, tab({}), () => []))).toEqual([["", "new conversation"]])
    const traced = codex.terminal
    if (!traced) throw new Error("Codex runs in a terminal")
    expect(wordsOf(planStart(traced, tab({ ran: true }), fileOf))).toEqual([["", "new conversation"]])
    expect(wordsOf(planStart(traced, tab({ ran: true, unclear: true }), fileOf))).toEqual([
      ["resume --last", "newest conversation of this folder"],
    ])
  })
})

test("a name that is not of the agent's form counts as unknown, whether it is in the row or the daemon tells it", () => {
  const isConversation = (name: string) => name === "good"
  const row = { conversation_id: "--yolo", forked_from: "--yolo" }
  expect(conversationOf(row, null, { isConversation })).toMatchObject({ id: null, forked_from: null })
  const pty = { conversation: { id: "-c", forked_from: "good", unclear: false, since: 0 } } as PtyState
  expect(conversationOf(row, pty, { isConversation })).toMatchObject({ id: null, forked_from: "good" })
})

describe("which conversation a program is in", () => {
  test("the one it has open, else the known one, else the only new one; of several, none", () => {
    expect(judgeTraces("a", ["b"], [])).toEqual({ id: "b", unclear: false })
    expect(judgeTraces("a", ["b", "c"], [])).toEqual({ id: "a", unclear: false })
    expect(judgeTraces(null, [], ["d"])).toEqual({ id: "d", unclear: false })
    expect(judgeTraces(null, [], ["d", "e"])).toEqual({ id: null, unclear: true })
    expect(judgeTraces(null, ["b", "c"], [])).toEqual({ id: null, unclear: true })
    expect(judgeTraces(null, [], [])).toEqual({ id: null, unclear: false })
  })

  test("a conversation is made for OpenCode with a name of its own form, in the folder", () => {
    const { make } = opencode.terminal ?? {}
    const { info, messages } = JSON.parse(make?.input?.("/work") ?? "{}")
    expect(info).toMatchObject({ id: expect.stringMatching(/^ses_[0-9a-f]{26}$/), directory: "/work" })
    expect(messages).toEqual([])
    expect(make?.says.exec(`Imported session: ${info.id}`)?.[1]).toBe(info.id)
  })
})
