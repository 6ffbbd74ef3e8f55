/** Lines of NAME=value → values by name; a sentence when a line is neither that nor empty. */
export function readPairs(text: string): Record<string, string> | string {
  const pairs: Record<string, string> = {}
  for (const line of text.split("\n").map((entry) => entry.trim())) {
    if (line === "") continue
    const at = line.indexOf("=")
    if (at < 1) return `“${line}” is not of the form NAME=value.`
    pairs[line.slice(0, at).trim()] = line.slice(at + 1).trim()
  }
  return pairs
}
