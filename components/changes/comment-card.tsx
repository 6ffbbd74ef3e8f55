import { MessageSquare, Pencil, Trash2 } from "lucide-react"
import { useState } from "react"
import { IconButton } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { formatMoment } from "@/lib/client/format"
import type { CommentView } from "@/lib/contracts/workspace"
import { useChangesContext } from "./changes-context"
import { CommentEditor } from "./comment-editor"

/** A comment beside its line: a draft can be reworded, one that was sent only read. */
export function CommentCard({ comment, moved }: { comment: CommentView; moved: boolean }) {
  const { sessionId, comments } = useChangesContext()
  const [editing, setEditing] = useState(false)
  const sent = comment.prompt_id !== null
  if (editing) {
    return (
      <CommentEditor
        draftKey={`rewake.comment.${sessionId}.${comment.id}`}
        label={`Comment on line ${comment.line}`}
        initial={comment.content}
        saving={comments.change.isPending}
        error={comments.change.error}
        onSave={(content) => comments.change.mutateAsync({ id: comment.id, content })}
        onCancel={() => setEditing(false)}
      />
    )
  }
  return (
    <article
      aria-label={`${sent ? "Sent comment" : "Draft comment"} on line ${comment.line}`}
      className={cn("rounded-md border px-3 py-2 font-sans", sent ? "border-line-soft text-text-2" : "border-need/50 bg-need-soft")}
    >
      <header className="flex items-center gap-1.5 text-s text-text-3">
        <MessageSquare aria-hidden="true" className={cn("size-3", !sent && "text-need")} />
        <span>
          {sent ? `Sent ${formatMoment(comment.updated_at, Date.now())}` : "Draft"} · line {comment.line}
          {comment.side === "old" && " before the change"}
          {moved && " · this line has changed since"}
        </span>
        {!sent && (
          <span className="ml-auto flex">
            <IconButton label="Reword" className="size-6" onClick={() => setEditing(true)}>
              <Pencil className="size-3" />
            </IconButton>
            <IconButton label="Delete comment" className="size-6" onClick={() => comments.remove.mutate(comment.id)}>
              <Trash2 className="size-3" />
            </IconButton>
          </span>
        )}
      </header>
      {moved && comment.line_text.trim() !== "" && (
        <p className="mt-1 truncate font-mono text-[12px] text-text-3">{comment.line_text.trim()}</p>
      )}
      <p className="mt-0.5 whitespace-pre-wrap [overflow-wrap:anywhere]">{comment.content}</p>
    </article>
  )
}
