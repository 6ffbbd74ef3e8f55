"use client"

import { type ComponentProps, createContext, isValidElement, type ReactNode, useContext, useEffect, useState } from "react"
import { CopyButton } from "@/components/ui/copy-button"
import { type HighlightedLines, highlight } from "@/lib/client/highlight"

/** True while the fence around a block has not been closed yet. */
export const OpenFence = createContext(false)

type CodeElement = { className?: string; children?: ReactNode }

export function CodeBlock({ children }: ComponentProps<"pre">) {
  const open = useContext(OpenFence)
  const code = isValidElement<CodeElement>(children) ? children.props : { children }
  const text = String(code.children ?? "").replace(/\n$/, "")
  const language = /language-([^\s]+)/.exec(code.className ?? "")?.[1]?.toLowerCase() ?? ""
  const lines = useHighlighted(text, language, !open)
  return (
    <div className="group/code relative my-2 overflow-hidden rounded-md border border-line-soft bg-panel">
      <div className="flex h-7 items-center border-line-soft border-b pr-1 pl-3 text-text-3 text-xs">
        <span>{language || "text"}</span>
        <CopyButton text={text} className="ml-auto touch:min-h-0 touch:px-3 touch:py-1.5" />
      </div>
      {/* Scrolls sideways, so it must be reachable by keyboard. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above. */}
      <pre tabIndex={0} className="overflow-x-auto px-3 py-2.5 font-mono text-[12.5px] leading-[1.55]">
        <code>{lines ? <Tokens lines={lines} /> : text}</code>
      </pre>
    </div>
  )
}

function useHighlighted(text: string, language: string, closed: boolean): HighlightedLines | null {
  const [result, setResult] = useState<{ text: string; lines: HighlightedLines } | null>(null)
  useEffect(() => {
    if (!closed || language === "") return
    let current = true
    // Plain text is what is shown anyway when a grammar fails to load.
    highlight(text, language).then(
      (lines) => current && lines && setResult({ text, lines }),
      () => undefined,
    )
    return () => {
      current = false
    }
  }, [text, language, closed])
  return result?.text === text ? result.lines : null
}

function Tokens({ lines }: { lines: HighlightedLines }) {
  return lines.map((line, row) => (
    <span key={row}>
      {line.map((token, column) => (
        <span key={column} className="shiki-token" style={token.htmlStyle as React.CSSProperties}>
          {token.content}
        </span>
      ))}
      {row < lines.length - 1 && "\n"}
    </span>
  ))
}
