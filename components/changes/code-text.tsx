import type { CSSProperties } from "react"
import { cn } from "@/components/ui/cn"
import type { HighlightedLines } from "@/lib/client/highlight"
import type { Mark } from "@/lib/client/unified-diff"

type Token = HighlightedLines[number][number]
type Piece = { content: string; style: CSSProperties | undefined; marked: boolean }

/** A line in its colours, with the part that changed on a darker ground. */
export function CodeText({
  text,
  tokens,
  mark,
  markClass,
}: {
  text: string
  tokens: readonly Token[] | undefined
  mark?: Mark | undefined
  markClass?: string
}) {
  return piecesOf(text, tokens, mark).map((piece, at) => (
    <span key={at} className={cn(piece.style && "shiki-token", piece.marked && cn("rounded-[2px]", markClass))} style={piece.style}>
      {piece.content}
    </span>
  ))
}

function piecesOf(text: string, tokens: readonly Token[] | undefined, mark: Mark | undefined): Piece[] {
  const plain: readonly { content: string; htmlStyle?: unknown }[] = tokens ?? [{ content: text }]
  const pieces: Piece[] = []
  let at = 0
  for (const { content, htmlStyle } of plain) {
    const style = htmlStyle as CSSProperties | undefined
    const cuts = mark ? [0, mark[0] - at, mark[1] - at, content.length] : [0, content.length]
    const bounded = cuts.map((cut) => Math.max(0, Math.min(content.length, cut)))
    for (let i = 1; i < bounded.length; i++) {
      const part = content.slice(bounded[i - 1], bounded[i])
      if (part !== "") pieces.push({ content: part, style, marked: mark !== undefined && i === 2 })
    }
    at += content.length
  }
  return pieces
}
