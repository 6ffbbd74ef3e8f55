import type { Said } from "./conversation"

const REQUEST = "=== CURRENT REQUEST ==="
const INSTRUCTIONS = "=== INSTRUCTIONS ==="

/** A prompt with history in front of it, taken apart; null when it is a plain prompt. */
export function readInjectedHistory(prompt: string): { history: Said[]; request: string } | null {
  const lines = prompt.split("\n")
  const end = lines.lastIndexOf(INSTRUCTIONS)
  const start = lines.lastIndexOf(REQUEST, end < 0 ? undefined : end)
  if (start < 0) return null
  const history = lines.slice(0, start).flatMap((line): Said[] => {
    const said = /^\[(USER|ASSISTANT)\]: ?(.*)$/.exec(line)
    return said ? [{ role: said[1] === "USER" ? "user" : "agent", text: said[2] ?? "" }] : []
  })
  return {
    history,
    request: lines
      .slice(start + 1, end < 0 ? undefined : end)
      .join("\n")
      .trim(),
  }
}
