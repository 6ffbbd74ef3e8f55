"use client"

import { Glyph, type GlyphName } from "@/components/ui/glyph"
import { auditDetails, auditUser, auditWords, outcomeWords, viaWords } from "@/lib/client/audit-words"
import { formatFull } from "@/lib/client/format"
import type { AuditEvent, AuditOutcome } from "@/lib/contracts/audit"
import { Cell, Head } from "./table-cells"

const outcomeGlyphs: Record<AuditOutcome, GlyphName> = { done: "done", failed: "cross", denied: "warn" }

export function Outcome({ outcome }: { outcome: AuditOutcome }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <Glyph name={outcomeGlyphs[outcome]} />
      {outcomeWords[outcome]}
    </span>
  )
}

export function AuditTable({ events }: { events: readonly AuditEvent[] }) {
  return (
    <table className="w-full border-collapse tabular-nums">
      <caption className="sr-only">Security log, newest first</caption>
      <thead>
        <tr>
          <Head>Time</Head>
          <Head>Who</Head>
          <Head className="w-full min-w-44">What</Head>
          <Head>Outcome</Head>
          <Head>From</Head>
          <Head>Target</Head>
        </tr>
      </thead>
      <tbody>
        {events.map((event) => (
          <tr key={event.id} className="hover:bg-[color-mix(in_oklab,var(--hover)_50%,transparent)]">
            <Cell title={event.at} className="text-s text-text-3">
              {formatFull(event.at)}
            </Cell>
            <Cell title={event.user_id ?? undefined} className="max-w-44 truncate">
              {auditUser(event)}
            </Cell>
            <Cell title={event.action} className="max-w-0 whitespace-normal! py-1.5">
              <span className="font-[480]">{auditWords[event.action]}</span>
              <span className="block text-s text-text-3 [overflow-wrap:anywhere]">{auditDetails(event)}</span>
            </Cell>
            <Cell>
              <Outcome outcome={event.outcome} />
            </Cell>
            <Cell title={event.credential_id ?? undefined} className="max-w-40 py-1.5">
              {viaWords[event.via]}
              {event.address && (
                <span title={event.address} className="block truncate font-mono text-s text-text-3">
                  {event.address}
                </span>
              )}
            </Cell>
            <Cell className="max-w-28 truncate font-mono text-s text-text-2" title={event.target ?? undefined}>
              {event.target ?? "–"}
            </Cell>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
