import type { TerminalView } from "./live-terminal"

/** What is left of a name beside its glyph where there is no room. */
export const shortName = (name: string): string => /\d+$/.exec(name)?.[0] ?? name.slice(0, 3)

/** The state of a terminal for people who do not see it. */
export function terminalWords(view: TerminalView | null): string {
  const stream = view?.stream
  switch (stream?.phase) {
    case undefined:
      return "not opened"
    case "loading":
    case "connecting":
      return "connecting"
    case "live":
      return view?.unseen ? "running, new output" : "running"
    case "waiting":
      return stream.why
    case "ended":
      return endWords(stream)
    case "gone":
      return "closed"
    case "failed":
      return stream.why
  }
}

export function endWords({ exitCode, signal }: { exitCode: number | null; signal: string | null }): string {
  if (signal) return `ended by ${signal}`
  return exitCode === null || exitCode === 0 ? "ended" : `ended with code ${exitCode}`
}
