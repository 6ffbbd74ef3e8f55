import { expect, test } from "vitest"
import { readPairs } from "../../../lib/client/pairs"
import { draftOf, matchingCommands } from "../../../lib/client/slash-commands"

const command = (name: string, hint: string | null = null) => ({ name, description: "", hint })
const commands = [command("review"), command("init"), command("pre-commit"), command("remember", "WORD")]
const names = (draft: string) => matchingCommands(draft, commands)?.map(({ name }) => name) ?? null

test("a message that begins like a command is offered those that begin so, then those that hold it", () => {
  expect(names("/")).toEqual(["review", "init", "pre-commit", "remember"])
  expect(names("/re")).toEqual(["review", "remember", "pre-commit"])
  expect(names("/RE")).toEqual(["review", "remember", "pre-commit"])
  expect(names("/nothing")).toEqual([])
})

test("a path, a sentence, or a command with its words is no beginning of one", () => {
  for (const draft of ["", "review", " /re", "see /re", "/remember pear", "/a\nb"]) expect(names(draft)).toBeNull()
})

test("a command that takes words is left open for them", () => {
  expect(draftOf(command("init"))).toBe("/init")
  expect(draftOf(command("remember", "WORD"))).toBe("/remember ")
})

test("keys are read a line each, and a line that is none is named", () => {
  expect(readPairs(" A=1 \n\nB=x=y\n")).toEqual({ A: "1", B: "x=y" })
  expect(readPairs("A=1\nsecret")).toContain("secret")
  expect(readPairs("=1")).toContain("=1")
})
