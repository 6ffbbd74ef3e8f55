"use client"

import { cn } from "@/components/ui/cn"
import { formatMoment, plural } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import { type useAdminSessions, useExecutors, useRecoveries } from "@/lib/client/queries/admin"

type SessionsLeadProps = { sessions: Pick<ReturnType<typeof useAdminSessions>, "data" | "error" | "failureCount" | "dataUpdatedAt"> }

/** Says how much there is, and whether what is shown is current. */
export function SessionsLead({ sessions }: SessionsLeadProps) {
  const now = useNow(10_000)
  const executors = useExecutors().data
  const boot = useRecoveries().data?.[0]
  const total = sessions.data?.counts?.all
  const stale = sessions.failureCount > 0 || sessions.error !== null
  const parts = [
    total !== undefined && plural(total, "session"),
    executors && plural(executors.length, "executor"),
    boot && now > 0 && `server on ${boot.hostname} since ${formatMoment(boot.started_at, now)}`,
  ].filter(Boolean)
  return (
    <p className="flex items-baseline gap-2">
      <span aria-hidden="true" className={cn("size-[7px] shrink-0 rounded-full", stale ? "border-[1.5px] border-warn" : "bg-alive")} />
      {stale ? (
        <span role="status">
          Not live: the server does not answer.
          {sessions.dataUpdatedAt > 0 &&
            now > 0 &&
            ` This is how it was at ${formatMoment(new Date(sessions.dataUpdatedAt).toISOString(), now)}.`}
        </span>
      ) : (
        <span>Live. {parts.length > 0 && `${capital(parts.join(", "))}.`}</span>
      )}
    </p>
  )
}

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)
