/**
 * Splits Markdown at blank lines that end a top-level block, so that a streaming message re-renders its last block only.
 * Joining the blocks gives the text back, and no block changes once another follows it.
 */
export type Blocks = { readonly text: string; readonly blocks: readonly string[] }

const fence = /^ {0,3}(`{3,}|~{3,})/
const listItem = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/
/** Reference definitions reach across blocks; such a message stays whole. */
const definition = /^ {0,3}\[[^\]]+\]:/m

export function splitBlocks(text: string, previous?: Blocks): Blocks {
  if (previous && previous.blocks.length > 1 && text.startsWith(previous.text)) {
    const kept = previous.blocks.slice(0, -1)
    const from = kept.reduce((sum, block) => sum + block.length, 0)
    const tail = text.slice(from)
    if (!definition.test(tail)) return { text, blocks: [...kept, ...split(tail)] }
  }
  return { text, blocks: definition.test(text) ? [text] : split(text) }
}

function split(text: string): string[] {
  const blocks: string[] = []
  let start = 0
  let at = 0
  let closing: string | null = null
  let inList = false
  let blankBefore = false
  while (at < text.length) {
    const newline = text.indexOf("\n", at)
    const end = newline === -1 ? text.length : newline + 1
    const line = text.slice(at, newline === -1 ? text.length : newline)
    const blank = line.trim() === ""
    // The last line may still grow: an indent or a list marker would make it part of the block before it.
    const mayGrow = newline === -1
    if (closing === null && !blank && blankBefore && at > start && !mayGrow) {
      const continues = /^\s/.test(line) || (inList && listItem.test(line))
      if (!continues) {
        blocks.push(text.slice(start, at))
        start = at
        inList = false
      }
    }
    const mark = fence.exec(line)?.[1]
    if (closing !== null) {
      if (mark?.startsWith(closing) && line.trim() === mark) closing = null
    } else if (mark) closing = mark
    else if (listItem.test(line)) inList = true
    blankBefore = blank && closing === null
    at = end
  }
  blocks.push(text.slice(start))
  return blocks
}

/** True while the text ends inside a code fence: highlighting it would be thrown away with the next delta. */
export function endsInFence(text: string): boolean {
  let closing: string | null = null
  for (const line of text.split("\n")) {
    const mark = fence.exec(line)?.[1]
    if (!mark) continue
    if (closing === null) closing = mark
    else if (mark.startsWith(closing) && line.trim() === mark) closing = null
  }
  return closing !== null
}
