"use client"

import { Download } from "lucide-react"
import Link from "next/link"
import { PhaseGlyph } from "@/components/task/phase-glyph"
import { Button } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { comesBackBy, rowAction } from "@/lib/client/admin-words"
import { useMe } from "@/lib/client/queries/account"
import { exportPath } from "@/lib/client/queries/transfer"
import { phaseOf, sessionPath } from "@/lib/client/session-phase"
import type { AdminSession } from "@/lib/contracts/admin"

export type SessionRowsProps = {
  items: readonly AdminSession[]
  busyId: string | null
  onResume: (session: AdminSession) => void
  onStop: (session: AdminSession) => void
}

export function Tag({ children, title }: { children: string; title?: string }) {
  return (
    <span
      title={title}
      className="inline-block max-w-full truncate rounded-[4px] border border-line px-[5px] align-bottom text-text-2 text-xs leading-[17px]"
    >
      {children}
    </span>
  )
}

/** Only its owner can open a session; to an admin another's title is text. */
export function SessionTitle({ session, className }: { session: AdminSession; className?: string }) {
  const me = useMe().data
  const title = session.title || session.session_id
  const glyph = <PhaseGlyph phase={phaseOf(session)} />
  const shared = cn("flex min-w-0 items-center gap-1.5", className)
  if (me?.email !== session.owner) {
    return (
      <span className={shared} title={`${title} (only ${session.owner} can open it)`}>
        {glyph}
        <span className="truncate">{title}</span>
      </span>
    )
  }
  return (
    <Link href={sessionPath({ task_id: session.task_id, id: session.session_id })} title={title} className={cn(shared, "hover:underline")}>
      {glyph}
      <span className="truncate">{title}</span>
    </Link>
  )
}

export const stateTone = (session: AdminSession) => (session.state === "ERROR" || session.state === "FAILED" ? "text-bad" : "text-text-2")
export const statusTone = (session: AdminSession) =>
  session.status.startsWith("interrupted") ? "text-warn" : session.status === "waiting" ? "text-need" : "text-text-2"
export const executorTone = (session: AdminSession) =>
  session.executor_status === "error" ? "text-bad" : session.executor_status === "unknown" ? "text-warn" : "text-text-2"

export function ComesBack({ session }: { session: AdminSession }) {
  const { way, reason } = comesBackBy(session)
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <span className="shrink-0">{way}</span>
      {reason && <Tag title={reason}>{reason}</Tag>}
    </span>
  )
}

export function RowAct({ session, busyId, onResume, onStop }: { session: AdminSession } & Omit<SessionRowsProps, "items">) {
  const act = rowAction(session)
  const busy = busyId === session.session_id
  return (
    <span className="inline-flex items-center justify-end gap-0.5">
      <a
        href={exportPath(session.session_id)}
        download
        aria-label={`Export ${session.title}`}
        title="Export"
        className="inline-flex size-7 items-center justify-center rounded-sm text-text-3 hover:bg-hover hover:text-text touch:size-11"
      >
        <Download className="size-3.5" />
      </a>
      {act && (
        <Button
          look="quiet"
          disabled={busy}
          aria-label={`${act.word} ${session.title}`}
          onClick={() => (act.action === "stop" ? onStop(session) : onResume(session))}
          className={cn("px-2 py-[2px]", act.action === "resume" ? "text-alive!" : "text-text-3! hover:text-text!")}
        >
          {act.word}
        </Button>
      )}
    </span>
  )
}
