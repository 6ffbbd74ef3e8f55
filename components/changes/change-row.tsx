import { ChevronRight, GitCommitHorizontal } from "lucide-react"
import { Button } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { type ChangeGroup, changedLines, sumLines } from "@/lib/client/change-list"
import type { ChangeRow } from "@/lib/client/change-rows"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatAgo, plural } from "@/lib/client/format"
import { SplitLine, UnifiedLine } from "./change-line"
import { useChangesContext } from "./changes-context"
import { CommentCard } from "./comment-card"
import { CommentEditor } from "./comment-editor"
import { FileHeader, LineCounts } from "./file-header"

export function ChangeRowView({ row, phone, painted }: { row: ChangeRow; phone: boolean; painted: number }) {
  switch (row.type) {
    case "group":
      return <GroupHeader group={row.group} open={row.open} />
    case "file":
      return <FileHeader change={row.change} open={row.open} drafts={row.drafts} />
    case "hunk":
      return <Hunk header={row.hunk.header} first={row.first} />
    case "line":
      return <UnifiedLine change={row.change} parsed={row.parsed} line={row.line} phone={phone} painted={painted} />
    case "pair":
      return <SplitLine change={row.change} parsed={row.parsed} pair={row.pair} phone={phone} painted={painted} />
    case "note":
      return <p className="px-4 py-3 font-sans text-text-3">{row.words}</p>
    case "large":
      return <Large row={row} />
    case "failed":
      return <Failed row={row} />
    case "loading":
      return (
        <p style={{ height: row.lines * 20 }} className="px-4 py-2.5 text-text-3">
          Loading…
        </p>
      )
    case "comment":
      return (
        <Aside>
          <CommentCard comment={row.comment} moved={row.moved} />
        </Aside>
      )
    case "editor":
      return <Editor row={row} />
    case "end":
      return <div className="h-10" />
  }
}

const Aside = ({ children }: { children: React.ReactNode }) => (
  <div className="max-w-[720px] py-1.5 pr-3 pl-[100px] phone:px-2">{children}</div>
)

function GroupHeader({ group, open }: { group: ChangeGroup; open: boolean }) {
  const { toggle } = useChangesContext()
  const { commit, title, files } = group
  const lines = sumLines(files.map(({ file }) => file))
  return (
    <button
      type="button"
      aria-expanded={open}
      onClick={() => toggle(group.key, !open)}
      className="mt-1 flex h-[38px] w-full items-center gap-2 px-3 text-left font-sans touch:h-12"
    >
      <ChevronRight aria-hidden="true" className={cn("size-3.5 shrink-0 text-text-3 transition-transform", open && "rotate-90")} />
      {commit && <GitCommitHorizontal aria-hidden="true" className="size-3.5 shrink-0 text-text-3" />}
      <span className={cn("min-w-0 truncate", commit ? "" : "font-[600]")}>{title}</span>
      {commit && <span className="shrink-0 font-mono text-text-3 text-xs phone:hidden">{commit.id.slice(0, 7)}</span>}
      <span className="shrink-0 text-s text-text-3">
        {plural(files.length, "file")}
        {commit && <span className="phone:hidden"> · {agoWords(commit.at)}</span>}
      </span>
      <span className="ml-auto pl-2">{files.some(({ file }) => file.added !== null) && <LineCounts {...lines} />}</span>
    </button>
  )
}

function agoWords(at: string): string {
  const ago = formatAgo(at, Date.now())
  return ago === "now" ? "just now" : `${ago} ago`
}

function Hunk({ header, first }: { header: string; first: boolean }) {
  if (first && header === "") return <div className="h-1.5" />
  return (
    <div
      className={cn("flex h-[26px] items-center gap-2 bg-panel/70 px-3 text-text-3", !first && "border-line-soft border-t border-dashed")}
    >
      <span aria-hidden="true" className="w-[76px] text-right phone:w-5">
        ⋯
      </span>
      <span className="min-w-0 truncate">{header}</span>
    </div>
  )
}

function Large({ row }: { row: Extract<ChangeRow, { type: "large" }> }) {
  const { showLarge } = useChangesContext()
  const count = changedLines(row.change.file)
  return (
    <div className="flex items-center gap-3 px-4 py-2.5 font-sans text-text-2">
      {count > 0 ? `${plural(count, "changed line")}: folded, so that the rest stays in sight.` : "Folded: it is made by a program."}
      <Button onClick={() => showLarge(row.change)}>Show anyway</Button>
    </div>
  )
}

function Failed({ row }: { row: Extract<ChangeRow, { type: "failed" }> }) {
  const { retry } = useChangesContext()
  return (
    <div role="alert" className="flex items-center gap-3 px-4 py-2.5 font-sans text-text-2">
      {errorSentence(row.error)}
      <Button onClick={() => retry(row.change)}>Try again</Button>
    </div>
  )
}

function Editor({ row }: { row: Extract<ChangeRow, { type: "editor" }> }) {
  const { sessionId, comments, closeEditor } = useChangesContext()
  const { spot, change } = row
  return (
    <Aside>
      <CommentEditor
        draftKey={`rewake.comment.${sessionId}.${change.file.path}.${spot.side}${spot.line}`}
        label={`Comment on ${change.file.path}, line ${spot.line}`}
        saving={comments.create.isPending}
        error={comments.create.error}
        onSave={(content) =>
          comments.create.mutateAsync({ path: change.file.path, side: spot.side, line: spot.line, line_text: spot.text, content })
        }
        onCancel={closeEditor}
      />
    </Aside>
  )
}
