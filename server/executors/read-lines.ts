import type { Readable } from "node:stream"

/**
 * Whole lines as they arrive, several at a time where they came together, so that one commit can take them all. `onHeartbeat`: a blank
 * line came by itself, when every line before it had been taken.
 */
export async function* readLineBatches(stream: Readable, onHeartbeat: () => void = () => {}): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const chunk of stream) {
    const text = decoder.decode(chunk as Buffer, { stream: true })
    if (text === "\n" && rest === "") onHeartbeat()
    rest += text
    const lines = rest.split("\n")
    rest = lines.pop() ?? ""
    const whole = lines.filter((line) => line.trim() !== "")
    if (whole.length > 0) yield whole
  }
}
