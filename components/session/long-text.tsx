import { memo } from "react"

/** Pieces of this size are laid out apart, and not at all while they are out of sight. */
const PIECE = 8_000

const Piece = memo(function Piece({ text }: { text: string }) {
  return <div className="whitespace-pre-wrap [contain-intrinsic-size:auto_1200px] [content-visibility:auto]">{text}</div>
})

/** Very long text that only ever grows at its end: the pieces before the last one are never touched again. */
export function LongText({ text }: { text: string }) {
  return piecesOf(text).map((piece, at) => <Piece key={at} text={piece} />)
}

function piecesOf(text: string): string[] {
  const pieces: string[] = []
  let start = 0
  while (text.length - start > PIECE) {
    const newline = text.slice(start, start + PIECE).lastIndexOf("\n")
    const end = newline > 0 ? start + newline + 1 : start + PIECE
    pieces.push(text.slice(start, end))
    start = end
  }
  pieces.push(text.slice(start))
  return pieces
}
