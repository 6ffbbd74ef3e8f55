import { Terminal } from "@xterm/headless"
import type { Viewer } from "../support/terminal"

const DIVIDER = /^─── restored .* ───$/

/** What a viewer sees: agents draw only what changed, so the bytes alone do not hold the text on the screen. */
export class Screen {
  private readonly terminal: Terminal
  private drawn = -1
  private shown = ""

  constructor(private readonly viewer: Viewer) {
    const { cols, rows, snapshot } = viewer.attached ?? { cols: 80, rows: 24 }
    this.terminal = new Terminal({ cols, rows, scrollback: 1000, allowProposedApi: true, logLevel: "off" })
    this.terminal.write(snapshot ?? "")
  }

  /** The lines of the process that runs now: what an earlier one left is above a divider. */
  async text(): Promise<string> {
    const bytes = this.viewer.bytes()
    if (bytes.length === this.drawn) return this.shown
    const fresh = bytes.subarray(Math.max(0, this.drawn))
    this.drawn = bytes.length
    await new Promise<void>((resolve) => this.terminal.write(fresh, resolve))
    const { active } = this.terminal.buffer
    const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "")
    this.shown = lines.slice(lines.findLastIndex((line) => DIVIDER.test(line)) + 1).join("\n")
    return this.shown
  }
}
