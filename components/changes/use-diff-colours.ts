import { useEffect, useState } from "react"
import { type HighlightedLines, highlight } from "@/lib/client/highlight"
import { languageOf } from "@/lib/client/language-of"
import { type ChangeLine, type Mark, type ParsedDiff, wordMarks } from "@/lib/client/unified-diff"

type Colours = { old: HighlightedLines | null; new: HighlightedLines | null }

const known = new WeakMap<ParsedDiff, Colours | "coming">()
const marked = new WeakMap<ParsedDiff, Map<ChangeLine, Mark>>()

export function marksOf(parsed: ParsedDiff): Map<ChangeLine, Mark> {
  const marks = marked.get(parsed) ?? wordMarks(parsed.lines)
  marked.set(parsed, marks)
  return marks
}

export function tokensOf(parsed: ParsedDiff, line: ChangeLine): HighlightedLines[number] | undefined {
  const colours = known.get(parsed)
  if (!colours || colours === "coming") return undefined
  return colours[line.op === "del" ? "old" : "new"]?.[line.at]
}

/** Colours the diffs that are in sight; until they have theirs they are plain. Answers how often some got them. */
export function useDiffColours(inSight: readonly { path: string; parsed: ParsedDiff }[]): number {
  const [painted, draw] = useState(0)
  useEffect(() => {
    for (const { path, parsed } of inSight) {
      if (known.has(parsed)) continue
      known.set(parsed, "coming")
      const language = languageOf(path)
      const paint = (text: string) => highlight(text, language).catch(() => null)
      void Promise.all([paint(parsed.oldText), paint(parsed.newText)]).then(([before, after]) => {
        known.set(parsed, { old: before, new: after })
        draw((times) => times + 1)
      })
    }
  }, [inSight])
  return painted
}
