import { Plus } from "lucide-react"
import { type KeyboardEvent, memo } from "react"
import { cn } from "@/components/ui/cn"
import type { FileChange, Spot } from "@/lib/client/change-list"
import type { ChangeLine, PairLine, ParsedDiff } from "@/lib/client/unified-diff"
import { useOpenEditor } from "./changes-context"
import { CodeText } from "./code-text"
import { marksOf, tokensOf } from "./use-diff-colours"

const sign = { add: "+", del: "−", same: " " } as const
const ground = { add: "bg-add", del: "bg-del", same: "" } as const
const markGround = { add: "bg-add-word", del: "bg-del-word", same: "" } as const

const spotOf = (line: ChangeLine): Omit<Spot, "text"> =>
  line.newNo === null ? { side: "old", line: line.oldNo ?? 1 } : { side: "new", line: line.newNo }

/** A finger has no hover: the line itself is what it touches. Marking text is no touch. */
const touched = () => matchMedia("(pointer: coarse)").matches && getSelection()?.isCollapsed !== false

function moveByArrow(event: KeyboardEvent<HTMLButtonElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
  const all = [...document.querySelectorAll<HTMLElement>("[data-comment-line]")]
  const next = all[all.indexOf(event.currentTarget) + (event.key === "ArrowDown" ? 1 : -1)]
  event.preventDefault()
  next?.focus()
  next?.scrollIntoView({ block: "nearest" })
}

function Gutter({ line, numbers, onComment }: { line: ChangeLine; numbers: (number | null)[]; onComment: () => void }) {
  const { side, line: no } = spotOf(line)
  return (
    <button
      type="button"
      data-comment-line
      tabIndex={line.op === "same" ? -1 : 0}
      aria-label={`Comment on line ${no}${side === "old" ? " before the change" : ""}`}
      onClick={(event) => {
        event.stopPropagation()
        onComment()
      }}
      onKeyDown={moveByArrow}
      className="group/gutter relative flex shrink-0 select-none items-start justify-end text-text-3 tabular-nums outline-offset-[-2px]"
    >
      {numbers.map((number, at) => (
        <span key={at} aria-hidden="true" className="w-[44px] pr-2.5 text-right phone:w-[34px] phone:pr-1.5">
          {number}
        </span>
      ))}
      <span
        aria-hidden="true"
        className="absolute top-px right-0 hidden size-[18px] translate-x-1/2 items-center justify-center rounded-[4px] bg-alive text-alive-ink shadow-sm group-hover/line:flex group-focus-visible/gutter:flex touch:hidden!"
      >
        <Plus className="size-3" />
      </span>
    </button>
  )
}

type LineProps = { change: FileChange; parsed: ParsedDiff; phone: boolean }

export const UnifiedLine = memo(function UnifiedLine({ change, parsed, line, phone }: LineProps & { line: ChangeLine; painted: number }) {
  const openEditor = useOpenEditor()
  const comment = () => openEditor(change, spotOf(line))
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the button in the gutter is there for the keyboard.
    // biome-ignore lint/a11y/noStaticElementInteractions: see above.
    <div onClick={() => touched() && comment()} className={cn("group/line flex min-h-5", ground[line.op])}>
      <Gutter line={line} numbers={phone ? [line.newNo ?? line.oldNo] : [line.oldNo, line.newNo]} onComment={comment} />
      <span
        className={cn(
          "w-6 shrink-0 select-none pl-2.5 phone:w-4 phone:pl-1",
          line.op === "add" && "text-alive",
          line.op === "del" && "text-bad",
        )}
      >
        {sign[line.op]}
      </span>
      <LineText line={line} parsed={parsed} />
    </div>
  )
})

function LineText({ line, parsed }: { line: ChangeLine; parsed: ParsedDiff }) {
  return (
    <span className="min-w-0 flex-1 whitespace-pre-wrap pr-3 [overflow-wrap:anywhere]">
      <CodeText text={line.text} tokens={tokensOf(parsed, line)} mark={marksOf(parsed).get(line)} markClass={markGround[line.op]} />
      {line.noNewline && (
        <span title="No line break at the end of the file" className="select-none pl-1 text-text-3">
          ⊘
        </span>
      )}
    </span>
  )
}

export const SplitLine = memo(function SplitLine({ change, parsed, pair }: LineProps & { pair: PairLine; painted: number }) {
  return (
    <div className="grid min-h-5 grid-cols-2">
      <Half change={change} parsed={parsed} line={pair.left} number={pair.left?.oldNo ?? null} side="old" />
      <Half change={change} parsed={parsed} line={pair.right} number={pair.right?.newNo ?? null} side="new" />
    </div>
  )
})

type HalfProps = { change: FileChange; parsed: ParsedDiff; line: ChangeLine | null; number: number | null; side: "old" | "new" }

function Half({ change, parsed, line, number, side }: HalfProps) {
  const openEditor = useOpenEditor()
  if (!line || number === null) return <div className="border-line-soft bg-panel/60 last:border-l" />
  return (
    <div className={cn("group/line flex min-w-0 border-line-soft last:border-l", ground[line.op])}>
      <Gutter line={line} numbers={[number]} onComment={() => openEditor(change, { side, line: number })} />
      <span className="w-3 shrink-0" />
      <LineText line={line} parsed={parsed} />
    </div>
  )
}
