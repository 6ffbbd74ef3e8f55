import { expect, test } from "vitest"
import { parseCommand } from "../../../server/agents/demo/command"
import { readInjectedHistory } from "../../../server/agents/demo/injected-history"

test("each command of the demo agent is understood as it is documented", () => {
  expect(parseCommand("remember apple")).toEqual({ kind: "remember", word: "apple" })
  expect(parseCommand(" recall \n")).toEqual({ kind: "recall" })
  expect(parseCommand("count 10 200")).toEqual({ kind: "count", upTo: 10, everyMs: 200 })
  expect(parseCommand("count 10")).toEqual({ kind: "count", upTo: 10, everyMs: 0 })
  expect(parseCommand("run echo 'a b' | cat")).toEqual({ kind: "run", command: "echo 'a b' | cat" })
  expect(parseCommand("write a/b.txt two words\nand a line")).toEqual({ kind: "write", path: "a/b.txt", text: "two words\nand a line" })
  expect(parseCommand("read a/b.txt")).toEqual({ kind: "read", path: "a/b.txt" })
  expect(parseCommand("ask Which one?")).toEqual({ kind: "ask", question: "Which one?" })
  expect(parseCommand("flood 7")).toEqual({ kind: "flood", updates: 7 })
  for (const kind of ["think", "plan", "crash", "hang", "help"]) expect(parseCommand(kind)).toEqual({ kind })
})

test("anything else is talk, also words that only begin like a command", () => {
  for (const text of ["", "hello", "remember", "count on me", "help me please", "recall what I said"]) {
    expect(parseCommand(text)).toEqual({ kind: "talk" })
  }
})

test("an injected history gives its user lines and the request under it, and nothing of the instructions", () => {
  const prompt = [
    "=== EXECUTION HISTORY ===",
    "[USER]: remember pear",
    "[ASSISTANT]: fine",
    "[TOOL CALL: x]",
    "",
    "=== CURRENT REQUEST ===",
    "write a.txt",
    "second line",
    "",
    "=== INSTRUCTIONS ===",
    "remember nothing",
  ].join("\n")
  expect(readInjectedHistory(prompt)).toEqual({
    history: [
      { role: "user", text: "remember pear" },
      { role: "agent", text: "fine" },
    ],
    request: "write a.txt\nsecond line",
  })
  expect(readInjectedHistory("recall")).toBeNull()
})
