"use client"

import { useState } from "react"
import type { ToolItem } from "@/lib/client/transcript-items"
import type { ToolOutput } from "@/lib/contracts/events"
import { DiffView } from "./diff-view"

/** More would make opening a row slow; the rest is one click away. */
const SHOWN_LINES = 300

export function ToolBody({ item }: { item: ToolItem }) {
  const input = inputText(item.rawInput)
  const empty = item.output.length === 0 && input === null && item.locations.length === 0
  return (
    <div className="border-line-soft border-t bg-panel">
      {item.locations.length > 0 && (
        <ul className="border-line-soft border-b px-2.5 py-1.5 font-mono text-text-3 text-xs last:border-0">
          {item.locations.map((place) => (
            <li key={`${place.path}:${place.line ?? ""}`} className="break-all">
              {place.path}
              {place.line ? `:${place.line}` : ""}
            </li>
          ))}
        </ul>
      )}
      {item.output.length === 0 && input !== null && <Pre text={input} />}
      {item.output.map((part, at) => (
        <Part key={at} part={part} />
      ))}
      {empty && <p className="px-2.5 py-1.5 text-text-3">No output{item.status === "in_progress" ? " yet" : ""}.</p>}
    </div>
  )
}

function Part({ part }: { part: ToolOutput }) {
  switch (part.type) {
    case "text":
      return <Pre text={withoutFence(part.text)} />
    case "terminal":
      return <Pre text={part.output} note={part.exit_code === null ? null : `exit ${part.exit_code}`} />
    case "diff":
      return <DiffView path={part.path} oldText={part.old_text} newText={part.new_text} />
    case "other":
      return <Pre text={JSON.stringify(part.value, null, 2)} />
  }
}

function Pre({ text, note = null }: { text: string; note?: string | null }) {
  const [all, setAll] = useState(false)
  const lines = withoutAnsi(text).replace(/\n$/, "").split("\n")
  const hidden = all ? 0 : Math.max(0, lines.length - SHOWN_LINES)
  return (
    <div className="border-line-soft border-b last:border-0">
      {hidden > 0 && (
        <button
          type="button"
          onClick={() => setAll(true)}
          className="w-full px-2.5 py-1.5 text-left text-text-3 hover:text-text touch:min-h-11"
        >
          Show {hidden} earlier lines
        </button>
      )}
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must be reachable by keyboard.
        tabIndex={0}
        className="max-h-[420px] overflow-auto whitespace-pre-wrap break-words px-2.5 py-2 font-mono text-[12px] text-text-2 leading-[1.55]"
      >
        {lines.slice(hidden).join("\n")}
      </pre>
      {note && <p className="px-2.5 pb-1.5 text-text-3 text-xs">{note}</p>}
    </div>
  )
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what an escape sequence is.
const withoutAnsi = (text: string) => text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007]*\u0007/g, "")

/** Some agents wrap a tool's whole output in a code fence. */
const withoutFence = (text: string) => /^\s*```[^\n]*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text

function inputText(input: unknown): string | null {
  if (input === null || input === undefined) return null
  return typeof input === "string" ? input : JSON.stringify(input, null, 2)
}
