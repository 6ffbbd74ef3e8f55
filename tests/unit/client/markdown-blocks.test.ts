import fc from "fast-check"
import { expect, test } from "vitest"
import { type Blocks, endsInFence, splitBlocks } from "@/lib/client/markdown-blocks"

test("paragraphs, fences and lists are blocks; what belongs together stays together", () => {
  const text = "One.\n\nTwo.\n\n```ts\na\n\nb\n```\n\n1. x\n\n2. y\n\n   still y\n\nEnd.\n"
  expect(splitBlocks(text).blocks).toEqual(["One.\n\n", "Two.\n\n", "```ts\na\n\nb\n```\n\n", "1. x\n\n2. y\n\n   still y\n\n", "End.\n"])
})

test("a message with reference definitions stays whole", () => {
  const text = "See [a].\n\nAnd more.\n\n[a]: https://example.com\n"
  expect(splitBlocks(text).blocks).toEqual([text])
})

const line = fc.constantFrom("", "", "text", "- item", "  indented", "```", "```ts", "1. one", "| a | b |", "> quote", "# title")

test("streaming gives the blocks of the whole text, and finished blocks never change", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), (lines, step) => {
      const text = lines.join("\n")
      let previous: Blocks | undefined
      for (let end = step; end < text.length + step; end += step) {
        const next = splitBlocks(text.slice(0, end), previous)
        if (previous) expect(next.blocks.slice(0, previous.blocks.length - 1)).toEqual(previous.blocks.slice(0, -1))
        previous = next
      }
      expect(splitBlocks(text, previous).blocks).toEqual(splitBlocks(text).blocks)
      expect(splitBlocks(text).blocks.join("")).toBe(text)
    }),
  )
})

test("an open fence is known as such", () => {
  expect(endsInFence("```ts\nconst a = 1\n")).toBe(true)
  expect(endsInFence("```ts\nconst a = 1\n```\n")).toBe(false)
  expect(endsInFence("````md\n```\n")).toBe(true)
})
