import { afterEach, describe, expect, test } from "vitest"
import { Screen } from "../../../server/agentctl/pty/screen"

const SIZE = { cols: 40, rows: 6 }
/** As wide as the screen: what follows it wraps. */
const FULL = "0123456789".repeat(4)
const open: Screen[] = []
afterEach(() => {
  for (const screen of open.splice(0)) screen.dispose()
})
function blank(): Screen {
  const screen = new Screen(SIZE, 0, { answer: () => undefined, drew: () => undefined })
  open.push(screen)
  return screen
}
async function drawn(screen: Screen, bytes: string): Promise<string> {
  screen.write(Buffer.from(bytes, "utf8"))
  await screen.settled()
  return screen.snapshot().toString("utf8")
}

describe("output that follows a snapshot looks as it would have without one", () => {
  test.each([
    ["line drawing that is on", "abc\x1b(0", "lqqk\x1b(Bl"],
    ["line drawing in the second set", "\x1b)0abc", "\x0elqk\x0flqk"],
    ["the second set in use", "\x1b)0\x0eabc", "lqk\x0flqk"],
    ["tab stops of its own", "\x1b[3g\x1b[1;5H\x1bH\x1b[1;21H\x1bH\x1b[3;2H", "\tx\ty\tz"],
    ["no tab stops at all", "\x1b[3gabc", "\tx"],
    ["tab stops, a scrolling region and a saved cursor", "\x1b[3g\x1b[1;9H\x1bH\x1b[2;4r\x1b[3;3H\x1b7\x1b[4;1H", "\tx\ny\x1b8z"],
    ["a line filled to its end in a scrolling region", `\x1b[2;4r\x1b[4;1H${FULL}`, "y"],
    ["a line filled to its end in origin mode", `\x1b[2;4r\x1b[?6h${FULL}`, "y"],
    ["a line filled to its end beside a saved cursor and tab stops", `ab\x1b7\x1b[3g\x1b[2;9H\x1bH\r\n${FULL}`, "y\tz\x1b8w"],
    ["a coloured line filled to its end on the other screen, above others", `\x1b[?1049h\x1b[3;1Hbelow\x1b[H\x1b[31m${FULL}\x1b[1m`, "y"],
    ["a line filled to its end by a wide character, in a scrolling region", `\x1b[2;4r\x1b[3;1H${FULL.slice(2)}\u4f60`, "y"],
    ["a line filled to its end and erased, in a scrolling region", `\x1b[2;4r\x1b[3;1H${FULL}\x1b[2K`, "y"],
    ["nothing unusual", "plain\r\n", "\tx"],
  ])("%s", async (_, before, after) => {
    const screen = blank()
    const snapshot = await drawn(screen, before)
    const other = blank()
    await other.draw(Buffer.from(snapshot, "utf8"))
    expect(other.snapshot().toString("utf8")).toBe(snapshot)
    expect(await drawn(other, after)).toBe(await drawn(screen, after))
  })
})
