"use client"

import { ChevronRight } from "lucide-react"
import { type ReactNode, useState } from "react"
import { cn } from "@/components/ui/cn"
import { FormError } from "@/components/ui/field"
import { Page } from "@/components/ui/page"
import { formatMs, runningBoots } from "@/lib/client/admin-words"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatFull, formatMoment } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import { useRecoveries } from "@/lib/client/queries/admin"
import type { Recovery } from "@/lib/contracts/admin"
import { RecoveredSessions } from "./recovered-sessions"

const narrow = "phone:hidden"
const COLUMNS = 8

export function RecoveriesPage() {
  const recoveries = useRecoveries()
  const running = runningBoots(recoveries.data ?? [])
  return (
    <Page wide title="Recoveries" lead="One row for each start of a server: what it found, and what became of it.">
      {recoveries.error && !recoveries.data && <FormError>{errorSentence(recoveries.error)}</FormError>}
      {recoveries.data && (
        <table className="w-full border-collapse tabular-nums">
          <caption className="sr-only">Starts of servers, the newest first</caption>
          <thead>
            <tr>
              <Head>When</Head>
              <Head className={narrow}>Host</Head>
              <Head right>Found</Head>
              <Head right>Adopted</Head>
              <Head right>Resumed</Head>
              <Head right>Interrupted</Head>
              <Head right>Failed</Head>
              <Head right className={narrow}>
                Took
              </Head>
            </tr>
          </thead>
          <tbody>
            {recoveries.data.map((recovery, at) => (
              <RecoveryRow key={recovery.boot_id} recovery={recovery} running={running.has(recovery.boot_id)} first={at === 0} />
            ))}
          </tbody>
        </table>
      )}
      {recoveries.data?.length === 0 && <p className="text-text-3">The first recovery is still under way.</p>}
    </Page>
  )
}

function RecoveryRow({ recovery, running, first }: { recovery: Recovery; running: boolean; first: boolean }) {
  const now = useNow(30_000)
  const [open, setOpen] = useState(first && recovery.sessions.length > 0)
  const id = `recovery-${recovery.boot_id}`
  return (
    <>
      <tr className="hover:bg-[color-mix(in_oklab,var(--hover)_50%,transparent)]" onClick={() => setOpen(!open)}>
        <Cell>
          <button
            type="button"
            aria-expanded={open}
            aria-controls={id}
            title={`${formatFull(recovery.started_at)} · ${recovery.boot_id}`}
            onClick={(event) => {
              event.stopPropagation()
              setOpen(!open)
            }}
            className="flex items-center gap-1.5 touch:min-h-11"
          >
            <ChevronRight className={cn("size-3.5 shrink-0 text-text-3 transition-transform", open && "rotate-90")} />
            <span className="font-[480]">{now > 0 && formatMoment(recovery.started_at, now)}</span>
            {running && (
              <span className="ml-1 flex items-center gap-1.5 text-alive text-s">
                <span aria-hidden="true" className="size-[7px] rounded-full bg-alive" />
                <span className="phone:sr-only">running now</span>
              </span>
            )}
          </button>
        </Cell>
        <Cell className={cn(narrow, "text-text-2")}>{recovery.hostname}</Cell>
        <Count n={recovery.found} />
        <Count n={recovery.adopted} tone="text-alive" />
        <Count n={recovery.resumed} tone="text-alive" />
        <Count n={recovery.interrupted} tone="text-warn" />
        <Count n={recovery.failed} tone="text-bad" />
        <Cell right className={cn(narrow, "text-text-2")}>
          {recovery.took_ms === null ? "under way" : formatMs(recovery.took_ms)}
        </Cell>
      </tr>
      {open && (
        <tr id={id}>
          <td colSpan={COLUMNS} className="border-line-soft border-b bg-panel px-3 py-2.5 phone:px-2">
            <RecoveredSessions recovery={recovery} />
          </td>
        </tr>
      )}
    </>
  )
}

const Count = ({ n, tone }: { n: number; tone?: string }) => (
  <Cell right className={n === 0 ? "text-text-3" : cn("font-[530]", tone)}>
    {n}
  </Cell>
)
const Head = ({ children, className, right }: { children: ReactNode; className?: string; right?: boolean }) => (
  <th
    scope="col"
    className={cn(
      "border-line border-b px-2 py-1.5 text-left font-medium text-s text-text-3 phone:px-1 phone:text-[10px]",
      right && "text-right",
      className,
    )}
  >
    {children}
  </th>
)
const Cell = ({ children, className, right }: { children: ReactNode; className?: string | undefined; right?: boolean }) => (
  <td className={cn("h-[37px] whitespace-nowrap border-line-soft border-b px-2 phone:px-1", right && "text-right", className)}>
    {children}
  </td>
)
