"use client"

import { useState } from "react"
import { cn } from "@/components/ui/cn"
import { inOldOrder } from "@/lib/client/admin-words"
import { formatAgo, formatFull } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import { useAgentName } from "@/lib/client/queries/agents"
import type { AdminSession } from "@/lib/contracts/admin"
import { ComesBack, executorTone, RowAct, type SessionRowsProps, SessionTitle, stateTone, statusTone, Tag } from "./session-words"
import { Cell, Head } from "./table-cells"

/** What a narrow page can do without comes last into the table. */
const roomy = "hidden @5xl:table-cell"

export function SessionTable({ items, ...acts }: SessionRowsProps) {
  const now = useNow(1000)
  const agentName = useAgentName()
  const { shown, hold } = useSteadyRows(items)
  return (
    <table className="w-full border-collapse tabular-nums" {...hold}>
      <caption className="sr-only">Sessions, the one that moved last first</caption>
      <thead>
        <tr>
          <Head className="w-full min-w-40">Session</Head>
          <Head>Owner</Head>
          <Head>Agent</Head>
          <Head className={roomy}>Runtime</Head>
          <Head className={roomy}>State</Head>
          <Head>Status</Head>
          <Head>Executor</Head>
          <Head>Comes back by</Head>
          <Head>Level</Head>
          <Head>Seen</Head>
          <Head>
            <span className="sr-only">Act</span>
          </Head>
        </tr>
      </thead>
      <tbody>
        {shown.map((session) => (
          <tr key={session.session_id} className="hover:bg-[color-mix(in_oklab,var(--hover)_50%,transparent)]">
            <Cell className="max-w-0 font-[480]">
              <SessionTitle session={session} />
            </Cell>
            <Cell className="max-w-36 truncate text-text-2" title={session.owner}>
              {session.owner}
            </Cell>
            <Cell className="max-w-32 truncate">{agentName(session.agent_profile_id)}</Cell>
            <Cell className={roomy}>
              <Tag>{session.runtime}</Tag>
            </Cell>
            <Cell className={cn(roomy, "text-s", stateTone(session))}>{session.state}</Cell>
            <Cell className={cn("text-s", statusTone(session))}>{session.status}</Cell>
            <Cell className={cn("text-s", executorTone(session))} title={session.error_message ?? undefined}>
              {session.executor_status}
            </Cell>
            <Cell className="max-w-52">
              <ComesBack session={session} />
            </Cell>
            <Cell>{session.survival_level}</Cell>
            <Cell title={formatFull(seenAt(session))} className="text-text-3">
              {now > 0 && formatAgo(seenAt(session), now)}
            </Cell>
            <Cell className="px-0! text-right">
              <RowAct session={session} {...acts} />
            </Cell>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export const seenAt = (session: AdminSession) =>
  session.last_seen_at && session.last_seen_at > session.updated_at ? session.last_seen_at : session.updated_at

/** Rows come in the order they last moved; while someone points at them or tabs through them, none moves away under the hand. */
function useSteadyRows(items: readonly AdminSession[]) {
  const [held, setHeld] = useState<readonly string[] | null>(null)
  const idOf = (session: AdminSession) => session.session_id
  const take = () => setHeld((ids) => ids ?? items.map(idOf))
  return {
    shown: held ? inOldOrder(items, idOf, held) : items,
    hold: {
      onPointerEnter: take,
      onFocus: take,
      onPointerLeave: () => setHeld(null),
      onBlur: () => setHeld(null),
    },
  }
}
