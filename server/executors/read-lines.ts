import type { Readable } from "node:stream"

/** Whole lines as they arrive, several at a time where they came together, so that one commit can take them all. */
export async function* readLineBatches(stream: Readable): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const chunk of stream) {
    rest += decoder.decode(chunk as Buffer, { stream: true })
    const lines = rest.split("\n")
    rest = lines.pop() ?? ""
    const whole = lines.filter((line) => line.trim() !== "")
    if (whole.length > 0) yield whole
  }
}
