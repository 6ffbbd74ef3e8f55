import { describe, expect, test } from "vitest"
import { joinCommandLine, splitCommandLine } from "../../../lib/client/command-line"

describe("a command line as people type it", () => {
  test.each([
    ["my-agent --acp", ["my-agent", "--acp"]],
    ["  sh   -c 'echo \"a b\"'  ", ["sh", "-c", 'echo "a b"']],
    ['"a b" c\\ d "say \\"hi\\""', ["a b", "c d", 'say "hi"']],
    ["x ''", ["x", ""]],
    ["", []],
  ])("%j", (line, words) => {
    expect(splitCommandLine(line)).toEqual(words)
  })
  test("what is shown for editing reads back as what was saved", () => {
    const words = ["a", "b c", 'd"e', "f\\g", "", "h'i"]
    expect(splitCommandLine(joinCommandLine(words))).toEqual(words)
  })
})
