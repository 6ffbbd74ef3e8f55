"use client"

import { Download } from "lucide-react"
import { Button, buttonClass } from "@/components/ui/button"
import { FormError } from "@/components/ui/field"
import { Page } from "@/components/ui/page"
import { errorSentence } from "@/lib/client/error-sentence"
import { usePhone } from "@/lib/client/hooks"
import { auditExportPath, useAudit } from "@/lib/client/queries/audit"
import { AuditCards } from "./audit-cards"
import { AuditFilters } from "./audit-filters"
import { AuditTable } from "./audit-table"
import { useAuditFilters } from "./use-audit-filters"

export function AuditPage() {
  const filters = useAuditFilters()
  const log = useAudit(filters.asked)
  const phone = usePhone()
  const events = log.data
  return (
    <Page
      wide
      title="Security log"
      lead="Who signed in, and who changed accounts, settings and keys. Newest first; nothing in it is ever changed."
    >
      <div>
        <div className="mb-3 flex flex-wrap items-end gap-2">
          <AuditFilters filters={filters} />
          <a href={auditExportPath(filters.asked)} download className={buttonClass("plain", "ml-auto phone:ml-0")}>
            <Download className="size-3.5" /> Export
          </a>
        </div>
        {log.error && <FormError>{errorSentence(log.error)}</FormError>}
        {!events && !log.error && <div role="status" aria-label="Loading" className="h-40 animate-breathe rounded-md bg-line-soft" />}
        {events?.length === 0 && <Nothing narrowed={filters.narrowed} onClear={filters.clear} />}
        {events && events.length > 0 && (phone ? <AuditCards events={events} /> : <AuditTable events={events} />)}
        {log.hasNextPage && (
          <div className="mt-3 flex justify-center">
            <Button disabled={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
              {log.isFetchingNextPage ? "Loading…" : "Load more"}
            </Button>
          </div>
        )}
      </div>
    </Page>
  )
}

function Nothing({ narrowed, onClear }: { narrowed: boolean; onClear: () => void }) {
  return (
    <div className="rounded-md border border-line border-dashed px-6 py-10 text-center text-text-3">
      <p>{narrowed ? "Nothing in the log matches." : "Nothing has been logged yet."}</p>
      {narrowed && (
        <Button className="mt-3" onClick={onClear}>
          Show all
        </Button>
      )}
    </div>
  )
}
