import { useMemo } from "react"
import { cn } from "@/components/ui/cn"
import { type DiffRow, diffLines } from "@/lib/client/diff-lines"
import { plural } from "@/lib/client/format"

const sign = { add: "+", del: "−", same: " " } as const

export function DiffView({ path, oldText, newText }: { path: string; oldText: string | null; newText: string }) {
  const diff = useMemo(() => diffLines(oldText, newText), [oldText, newText])
  return (
    <div className="border-line-soft border-b last:border-0">
      <div className="flex items-center gap-2 border-line-soft border-b px-2.5 py-1 font-mono text-text-2 text-xs">
        <span className="min-w-0 truncate">{path}</span>
        <span className="ml-auto shrink-0 text-text-3">
          {oldText === null ? "new file · " : ""}+{diff.added} −{diff.removed}
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must be reachable by keyboard. */}
      <div tabIndex={0} className="max-h-[460px] overflow-auto py-1 font-mono text-[12px] leading-[1.55]">
        <div className="w-max min-w-full">
          {diff.rows.map((row, at) => (
            <Row key={at} row={row} />
          ))}
        </div>
      </div>
    </div>
  )
}

function Row({ row }: { row: DiffRow }) {
  if (row.op === "skip") return <div className="px-2.5 py-0.5 text-text-3">⋯ {plural(row.count, "unchanged line")}</div>
  return (
    <div className={cn("flex", row.op === "add" && "bg-add", row.op === "del" && "bg-del")}>
      <span aria-hidden="true" className="w-10 shrink-0 select-none pr-2 text-right text-text-2">
        {row.newNo ?? row.oldNo}
      </span>
      <span className="w-4 shrink-0">{sign[row.op]}</span>
      <span className="whitespace-pre pr-3">{row.text}</span>
    </div>
  )
}
