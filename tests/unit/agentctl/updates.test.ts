import { expect, test } from "vitest"
import { describeInput, isConversation, mapUpdate } from "../../../server/agentctl/acp/updates"

const terminal = () => ({ output: "so far", exit_code: null })
const map = (update: unknown) => mapUpdate(update, terminal)
const record = (update: unknown) => {
  const mapped = map(update)
  return mapped.type === "record" ? mapped.record : mapped
}

test("text keeps its role and the agent's own message id", () => {
  const content = { type: "text", text: "hi" }
  expect(map({ sessionUpdate: "agent_message_chunk", content, messageId: "m" })).toEqual({
    type: "text",
    role: "agent",
    text: "hi",
    theirs: "m",
  })
  expect(map({ sessionUpdate: "agent_thought_chunk", content })).toEqual({ type: "text", role: "thought", text: "hi", theirs: null })
})

test("a tool call is complete even where the agent left things out", () => {
  expect(record({ sessionUpdate: "tool_call", toolCallId: "t", title: "T" })).toEqual({
    kind: "tool.call",
    tool_call_id: "t",
    title: "T",
    tool_kind: "other",
    status: "pending",
    output: [],
    locations: [],
  })
})

test("a tool update carries only what changed", () => {
  expect(record({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed", title: null, content: null })).toEqual({
    kind: "tool.update",
    tool_call_id: "t",
    status: "completed",
  })
})

test("every kind of tool content has its place", () => {
  const content = [
    { type: "content", content: { type: "text", text: "x" } },
    { type: "diff", path: "/a", newText: "n" },
    { type: "terminal", terminalId: "term" },
    { type: "content", content: { type: "image", data: "…" } },
    "nonsense",
  ]
  expect(record({ sessionUpdate: "tool_call_update", toolCallId: "t", content })).toMatchObject({
    output: [
      { type: "text", text: "x" },
      { type: "diff", path: "/a", old_text: null, new_text: "n" },
      { type: "terminal", terminal_id: "term", output: "so far", exit_code: null },
      { type: "other", value: content[3] },
      { type: "other", value: "nonsense" },
    ],
  })
})

test("whatever is not understood is kept whole", () => {
  for (const update of [
    { sessionUpdate: "usage_update", used: 1 },
    { sessionUpdate: "tool_call", title: "no id" },
    { sessionUpdate: "tool_call_update", toolCallId: "t", status: "paused" },
    { sessionUpdate: "plan", entries: [{ content: 1 }] },
    { sessionUpdate: "agent_message_chunk", content: { type: "image" } },
    null,
    "text",
  ]) {
    expect(record(update)).toEqual({ kind: "agent.update", update })
  }
})

test("only the conversation itself counts as history, modes and commands do not", () => {
  expect(isConversation({ sessionUpdate: "user_message_chunk" })).toBe(true)
  expect(isConversation({ sessionUpdate: "tool_call_update" })).toBe(true)
  expect(isConversation({ sessionUpdate: "current_mode_update" })).toBe(false)
})

test("a permission is described by what would be done", () => {
  expect(describeInput({ command: "rm -rf x", description: "clean" })).toBe("rm -rf x")
  expect(describeInput({ command: ["ls", "-l"] })).toBe("ls -l")
  expect(describeInput({ file_path: "/a" })).toBe("/a")
  expect(describeInput({ other: 1 })).toBeNull()
  expect(describeInput(undefined)).toBeNull()
  expect(describeInput({ command: "x".repeat(5000) })?.length).toBe(2001)
})
