"use client"

import { auditDetails, auditUser, auditWords, viaWords } from "@/lib/client/audit-words"
import { formatFull } from "@/lib/client/format"
import type { AuditEvent } from "@/lib/contracts/audit"
import { Outcome } from "./audit-table"
import { CardLine } from "./table-cells"

/** The table's rows where there is no room for a table. */
export function AuditCards({ events }: { events: readonly AuditEvent[] }) {
  return (
    <ul className="flex flex-col gap-2">
      {events.map((event) => (
        <li key={event.id} className="rounded-md border border-line-soft bg-panel px-3 py-2">
          <div className="flex items-baseline gap-2">
            <span className="min-w-0 flex-1 font-[530]">{auditWords[event.action]}</span>
            <span className="shrink-0 text-s">
              <Outcome outcome={event.outcome} />
            </span>
          </div>
          <p className="text-s text-text-3">
            {auditUser(event)} · {formatFull(event.at)}
          </p>
          <dl className="mt-1 grid grid-cols-[64px_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-s">
            <CardLine term="Via">
              {viaWords[event.via]}
              {event.address && `, ${event.address}`}
            </CardLine>
            {event.target && <CardLine term="Target">{event.target}</CardLine>}
            {auditDetails(event) && (
              <CardLine term="Details" className="whitespace-normal [overflow-wrap:anywhere]">
                {auditDetails(event)}
              </CardLine>
            )}
          </dl>
        </li>
      ))}
    </ul>
  )
}
