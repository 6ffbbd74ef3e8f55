"use client"

import { formatAgo } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import { useAgentName } from "@/lib/client/queries/agents"
import { seenAt } from "./session-table"
import { ComesBack, executorTone, RowAct, type SessionRowsProps, SessionTitle, stateTone, statusTone } from "./session-words"
import { CardLine } from "./table-cells"

/** The table's rows where there is no room for a table. */
export function SessionCards({ items, ...acts }: SessionRowsProps) {
  const now = useNow(1000)
  const agentName = useAgentName()
  return (
    <ul className="flex flex-col gap-2">
      {items.map((session) => (
        <li key={session.session_id} className="rounded-md border border-line-soft bg-panel px-3 pt-1 pb-2">
          <div className="flex min-h-11 items-center gap-2">
            <SessionTitle session={session} className="min-h-11 flex-1 font-[530]" />
            <span className="shrink-0 text-text-3 text-xs tabular-nums">{now > 0 && formatAgo(seenAt(session), now)}</span>
            <RowAct session={session} {...acts} />
          </div>
          <p className="truncate text-s text-text-3">
            {session.owner} · {agentName(session.agent_profile_id)} · {session.runtime}
          </p>
          <dl className="mt-1 grid grid-cols-[92px_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-s">
            <CardLine term="State" className={stateTone(session)}>
              {session.state}
            </CardLine>
            <CardLine term="Status" className={statusTone(session)}>
              {session.status}
            </CardLine>
            <CardLine term="Executor" className={executorTone(session)}>
              {session.executor_status}
              {session.error_message && `: ${session.error_message}`}
            </CardLine>
            <CardLine term="Comes back by">
              <ComesBack session={session} />
            </CardLine>
            <CardLine term="Level">{session.survival_level}</CardLine>
          </dl>
        </li>
      ))}
    </ul>
  )
}
