/** Deeper than anything an agent or a log has to say. */
export const MAX_JSON_DEPTH = 64

const OPEN = new Set([0x5b, 0x7b])
const CLOSE = new Set([0x5d, 0x7d])
const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Whether JSON text nests deeper than `limit`. Looked at before it is parsed: a value that is nested deep enough can be parsed but
 * not written again, since writing it overflows the stack. One pass, without recursion.
 */
export function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (OPEN.has(code)) {
      depth += 1
      if (depth > limit) return true
    } else if (CLOSE.has(code)) depth -= 1
  }
  return false
}

/** Where the string that begins at `from` ends; brackets in it nest nothing. */
function endOfString(text: string, from: number): number {
  for (let at = from; ; ) {
    at = text.indexOf('"', at + 1)
    if (at === -1) return text.length
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1
    if (escapes % 2 === 0) return at
  }
}
