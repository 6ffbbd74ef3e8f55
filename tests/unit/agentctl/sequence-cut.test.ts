import { Terminal } from "@xterm/headless"
import fc from "fast-check"
import { expect, test } from "vitest"
import { Screen } from "../../../server/agentctl/pty/screen"
import { drawableLength } from "../../../server/agentctl/pty/sequence-cut"

const bytes = (text: string) => Buffer.from(text, "latin1")

test.each([
  ["plain text", "abc", 3],
  ["nothing", "", 0],
  ["a lone escape", "abc\x1b", 3],
  ["the beginning of a colour", "abc\x1b[38;5", 3],
  ["a whole colour", "abc\x1b[31m", 8],
  ["the beginning of a title", "abc\x1b]0;half a ti", 3],
  ["a title ended by a bell", "abc\x1b]0;title\x07", 13],
  ["a title ended by half a terminator", "abc\x1b]0;title\x1b", 3],
  ["a title ended by a whole terminator", "abc\x1b]0;title\x1b\\", 14],
  ["a choice of character set without its name", "abc\x1b(", 3],
  ["a choice of character set", "abc\x1b(B", 6],
  ["half a character", "abc\xc3", 3],
  ["three quarters of a character", "abc\xf0\x9f\x98", 3],
  ["a whole character", "abc\xc3\xa4", 5],
  ["bytes that are no characters", "abc\xff\x80\x80\x80\x80", 8],
])("%s", (_, text, length) => {
  expect(drawableLength(bytes(text))).toBe(length)
})

test("a string that is too long to hold back is passed on", () => {
  const long = bytes(`\x1b]1337;File=${"x".repeat(10_000)}`)
  expect(drawableLength(long)).toBe(long.length)
})

const sequences = [
  ..."\x1b[31m \x1b[2;3H \x1b]0;t\x07 \x1b]0;t\x1b\\ \x1b(B \x1b[?25l \r\n \xc3\xa4 \xe2\x94\x80 \x1bP$qm\x1b\\".split(" "),
  ..."\x1b[2;4r \x1b[?1049h \x1b[?6h \x1b[?1000h \x1b[?1006h \x1b[?2004h \x1b[K \x1bM".split(" "),
]
const pieces = (...more: string[]) =>
  fc.array(
    fc.oneof(
      fc.constantFrom(...sequences, ...more),
      fc.string({ maxLength: 5 }).map((text) => text.replaceAll(/[^ -~]/g, "")),
    ),
    { maxLength: 12 },
  )

async function look(cols: number, ...parts: Buffer[]) {
  const terminal = new Terminal({ cols, rows: 5, allowProposedApi: true })
  for (const part of parts) await new Promise<void>((resolve) => terminal.write(part, resolve))
  const { active } = terminal.buffer
  const rows = Array.from({ length: active.length }, (__, row) => active.getLine(row)?.translateToString(true))
  return { rows, cursor: [active.cursorX, active.cursorY], type: active.type, modes: { ...terminal.modes } }
}

test("a cursor that was moved below a line filled to its end is where it was moved to", async () => {
  const screen = new Screen({ cols: 20, rows: 5 }, 0, { answer: () => undefined, drew: () => undefined })
  screen.write(bytes(`${" ".repeat(20)}\x1b[2;3H`))
  await screen.settled()
  expect((await look(20, screen.snapshot())).cursor).toEqual([2, 1])
})

test.each([
  // Lines that are filled to their end wrap, and scroll.
  { cols: 20, output: pieces("\x1b7", "\x1b8") },
  { cols: 100, output: pieces("\x1b7", "\x1b8", "\x1b[?1049l") },
])(
  "a snapshot taken anywhere, followed by the raw output after it, gives the screen of all the output, $cols wide",
  async ({ cols, output }) => {
    await fc.assert(
      fc.asyncProperty(output, fc.nat(), async (words, seed) => {
        const whole = bytes(words.join(""))
        const screen = new Screen({ cols, rows: 5 }, 0, { answer: () => undefined, drew: () => undefined })
        screen.write(whole.subarray(0, seed % (whole.length + 1)))
        await screen.settled()
        expect(await look(cols, screen.snapshot(), whole.subarray(screen.offset))).toEqual(await look(cols, whole))
      }),
      { numRuns: 150 },
    )
  },
)
