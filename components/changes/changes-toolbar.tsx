import { Columns2, GitBranch, Rows3, Send } from "lucide-react"
import { useRef, useState } from "react"
import { Button } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { countChanged, sumLines } from "@/lib/client/change-list"
import { errorSentence } from "@/lib/client/error-sentence"
import { plural } from "@/lib/client/format"
import { newClientMessageId } from "@/lib/client/outbox"
import type { Changes } from "@/lib/contracts/workspace"
import { useChangesContext } from "./changes-context"
import { LineCounts } from "./file-header"

type ToolbarProps = { changes: Changes; drafts: number; split: boolean; onSplit: (split: boolean) => void; onSent: () => void }

export function ChangesToolbar({ changes, drafts, split, onSplit, onSent }: ToolbarProps) {
  const { conflicts, staged, unstaged, untracked, commits } = changes
  const lines = sumLines([...conflicts, ...staged, ...unstaged, ...untracked, ...commits.flatMap(({ files }) => files)])
  return (
    <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-line-soft border-b px-3.5 py-1.5">
      <span className="whitespace-nowrap font-[560]">{plural(countChanged(changes), "changed file")}</span>
      <LineCounts {...lines} />
      {changes.branch && (
        <span className="flex min-w-0 items-center gap-1 text-s text-text-3 phone:hidden">
          <GitBranch aria-hidden="true" className="size-3 shrink-0" />
          <span className="truncate font-mono">{changes.branch}</span>
        </span>
      )}
      {changes.truncated && <span className="text-s text-warn">More changed than is listed here.</span>}
      <div className="ml-auto flex items-center gap-2">
        <SendComments drafts={drafts} onSent={onSent} />
        <fieldset className="flex rounded-sm border border-line phone:hidden">
          <legend className="sr-only">View</legend>
          <ViewChoice chosen={!split} onChoose={() => onSplit(false)} label="Unified">
            <Rows3 className="size-3.5" />
          </ViewChoice>
          <ViewChoice chosen={split} onChoose={() => onSplit(true)} label="Split">
            <Columns2 className="size-3.5" />
          </ViewChoice>
        </fieldset>
      </div>
    </div>
  )
}

function ViewChoice({
  chosen,
  onChoose,
  label,
  children,
}: {
  chosen: boolean
  onChoose: () => void
  label: string
  children: React.ReactNode
}) {
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={onChoose}
      className={cn(
        "flex items-center gap-1.5 px-2 py-[3.5px] text-s first:rounded-l-[4px] last:rounded-r-[4px]",
        chosen ? "bg-hover text-text" : "text-text-3 hover:text-text",
      )}
    >
      {children}
      {label}
    </button>
  )
}

/** One sending, one id: pressed again after a lost answer it is the same message. */
function SendComments({ drafts, onSent }: { drafts: number; onSent: () => void }) {
  const { send } = useChangesContext().comments
  const id = useRef<string | null>(null)
  const [sent, setSent] = useState(0)
  const press = () => {
    id.current ??= newClientMessageId()
    send.mutate(id.current, {
      onSuccess: (answer) => {
        id.current = null
        setSent(answer.sent)
        onSent()
      },
    })
  }
  return (
    <>
      <span role="status" className="text-s text-text-3">
        {drafts === 0 && sent > 0 && `${plural(sent, "comment")} sent.`}
      </span>
      {send.error && drafts > 0 && (
        <span role="alert" className="max-w-[320px] text-bad text-s">
          {errorSentence(send.error)}
        </span>
      )}
      {drafts > 0 && (
        <Button look="primary" disabled={send.isPending} onClick={press}>
          <Send className="size-3.5" />
          {send.isPending ? (
            "Sending…"
          ) : (
            <span>
              Send {plural(drafts, "comment")}
              <span className="phone:sr-only"> to the agent</span>
            </span>
          )}
        </Button>
      )}
    </>
  )
}
