/** A command line as people type it → its words; quotes keep spaces together, a backslash keeps the next character. */
export function splitCommandLine(line: string): string[] {
  const words: string[] = []
  let word: string | null = null
  let quote: string | null = null
  for (let at = 0; at < line.length; at++) {
    const c = line[at] as string
    if (c === "\\" && quote !== "'" && at + 1 < line.length) word = (word ?? "") + line[++at]
    else if (quote === null && (c === '"' || c === "'")) {
      quote = c
      word ??= ""
    } else if (c === quote) quote = null
    else if (quote === null && /\s/.test(c)) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? "") + c
  }
  if (word !== null) words.push(word)
  return words
}

/** The other way round: what `splitCommandLine` reads back as these words. */
export const joinCommandLine = (words: readonly string[]): string =>
  words.map((word) => (/^[^\s"'\\]+$/.test(word) ? word : `"${word.replace(/["\\]/g, "\\$&")}"`)).join(" ")
