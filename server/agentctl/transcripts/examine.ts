/** What is wrong with an agent's own session file, one JSON value a line; in words for a person. Pure. Empty: nothing. */
export function examineTranscript(bytes: Buffer): string[] {
  if (bytes.length === 0) return ["it is empty"]
  const findings: string[] = []
  const nuls = countNuls(bytes)
  if (nuls > 0) findings.push(`it holds ${nuls} NUL bytes`)
  const lines = bytes.toString("utf8").split("\n")
  // What follows the last line break was still being written, unless it is whole.
  const tail = lines.pop() ?? ""
  if (tail.trim() !== "" && !isJson(tail)) findings.push("its last line is torn")
  const unreadable = lines.flatMap((line, at) => (line.trim() === "" || isJson(line) ? [] : [at + 1]))
  if (unreadable.length > 0) findings.push(`${unreadable.length} of its lines cannot be read, the first is line ${unreadable[0]}`)
  return findings
}

function countNuls(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1)) count++
  return count
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
