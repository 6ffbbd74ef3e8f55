/** Alternate screen, mouse and paste modes, character sets, colours: whatever a program that is gone had left on. */
const leaveModes = (alternate: boolean): string =>
  [
    alternate ? "\x1b[?1049l" : "",
    "\x1b[!p",
    ...[9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026, 1].map((mode) => `\x1b[?${mode}l`),
    "\x1b[?7h\x1b[?25h\x1b[0 q\x1b>\x1b(B\x0f\x1b[0m",
  ].join("")

/** The end of what an earlier process had on. The screen is asked for its used rows after it. */
export const modesReset = (alternate: boolean): Buffer => Buffer.from(leaveModes(alternate), "latin1")

/** Below everything that is on the screen, so that no old line is overwritten. */
export function dividerLine(usedRows: number, at: Date, label: string): Buffer {
  const time = `${String(at.getHours()).padStart(2, "0")}:${String(at.getMinutes()).padStart(2, "0")}`
  const below = usedRows > 0 ? `\x1b[${usedRows};1H\r\n` : "\x1b[H"
  return Buffer.from(`${below}\x1b[2m─── restored ${time}, ${printable(label)} ───\x1b[0m\r\n`, "utf8")
}

const printable = (label: string): string => Array.from(label, (c) => (c < " " || (c >= "\x7f" && c < "\xa0") ? " " : c)).join("")
