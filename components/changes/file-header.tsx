import { ChevronRight, FileText, MessageSquare } from "lucide-react"
import { IconButton } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import type { FileChange } from "@/lib/client/change-list"
import { plural } from "@/lib/client/format"
import type { ChangeStatus } from "@/lib/contracts/workspace"
import { useChangesContext } from "./changes-context"

const letters: Record<ChangeStatus, { letter: string; word: string; colour: string }> = {
  added: { letter: "A", word: "added", colour: "text-alive" },
  modified: { letter: "M", word: "modified", colour: "text-work" },
  deleted: { letter: "D", word: "deleted", colour: "text-bad" },
  renamed: { letter: "R", word: "renamed", colour: "text-need" },
  copied: { letter: "C", word: "copied", colour: "text-need" },
  type_changed: { letter: "T", word: "of another type", colour: "text-need" },
  conflicted: { letter: "!", word: "in conflict", colour: "text-warn" },
}

export function StatusLetter({ status }: { status: ChangeStatus }) {
  const { letter, word, colour } = letters[status]
  return (
    <span title={word} className={cn("w-3 shrink-0 text-center font-[620] font-mono text-xs", colour)}>
      <span aria-hidden="true">{letter}</span>
      <span className="sr-only">{word}</span>
    </span>
  )
}

export function LineCounts({ added, removed }: { added: number | null; removed: number | null }) {
  if (added === null && removed === null) return null
  return (
    <span className="shrink-0 whitespace-nowrap font-mono text-xs tabular-nums">
      <span className="text-alive">+{added ?? 0}</span> <span className="text-bad">−{removed ?? 0}</span>
    </span>
  )
}

export function FilePathText({ path, oldPath }: { path: string; oldPath: string | null }) {
  const cut = path.lastIndexOf("/", path.length - 2) + 1
  return (
    <span className="flex min-w-0 items-baseline font-mono text-[12px]">
      {oldPath && <span className="min-w-0 shrink-[99] truncate text-text-3 line-through phone:hidden">{oldPath}</span>}
      {oldPath && <span className="shrink-0 px-1 text-text-3 phone:hidden">→</span>}
      <span className="min-w-0 shrink-[99] truncate text-text-3">{path.slice(0, cut)}</span>
      <span className="min-w-0 truncate text-text">{path.slice(cut)}</span>
    </span>
  )
}

export function FileHeader({
  change,
  open,
  drafts,
  stuck = false,
}: {
  change: FileChange
  open: boolean
  drafts: number
  stuck?: boolean
}) {
  const { toggle, openFile } = useChangesContext()
  const { file } = change
  return (
    <div
      className={cn(
        "flex h-9 items-center gap-1 border-line-soft border-y bg-panel pr-2 pl-1 touch:h-11",
        stuck && "border-line border-t-transparent shadow-[0_4px_10px_-8px_rgb(0_0_0/0.5)]",
      )}
    >
      <button
        type="button"
        aria-expanded={open}
        data-change-file={stuck ? undefined : change.key}
        onClick={() => toggle(change.key, !open)}
        className="flex h-full min-w-0 flex-1 items-center gap-2 rounded-sm px-1.5 text-left"
      >
        <ChevronRight aria-hidden="true" className={cn("size-3.5 shrink-0 text-text-3 transition-transform", open && "rotate-90")} />
        <StatusLetter status={file.status} />
        <FilePathText path={file.path} oldPath={file.old_path} />
        <span className="ml-auto flex shrink-0 items-center gap-2.5">
          {drafts > 0 && (
            <span title={plural(drafts, "draft")} className="flex items-center gap-1 text-need text-xs">
              <MessageSquare aria-hidden="true" className="size-3" /> {drafts}
              <span className="sr-only">{drafts === 1 ? "draft" : "drafts"}</span>
            </span>
          )}
          {file.binary ? <span className="text-text-3 text-xs">binary</span> : <LineCounts added={file.added} removed={file.removed} />}
        </span>
      </button>
      {file.status !== "deleted" && !file.path.endsWith("/") && (
        <IconButton label={`Open ${file.path}`} className="size-6" onClick={() => openFile(file.path)}>
          <FileText className="size-3.5" />
        </IconButton>
      )}
    </div>
  )
}
