"use client"

import { Search, X } from "lucide-react"
import { useSearchParams } from "next/navigation"
import { useState } from "react"
import { Button } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { FormError } from "@/components/ui/field"
import { Page } from "@/components/ui/page"
import { FILTERS, filterWords, isFilter } from "@/lib/client/admin-words"
import { errorSentence } from "@/lib/client/error-sentence"
import { usePhone, useSettled } from "@/lib/client/hooks"
import { useActOnSession, useAdminSessions } from "@/lib/client/queries/admin"
import type { AdminFilter, AdminSession, AdminSessions } from "@/lib/contracts/admin"
import { SessionCards } from "./session-cards"
import { SessionTable } from "./session-table"
import { SessionTiles } from "./session-tiles"
import { SessionsLead } from "./sessions-lead"
import { StopDialog } from "./stop-dialog"

const SETTLE_MS = 200

export function SessionsPage() {
  const [filter, setFilter] = useFilter()
  const [q, setQ] = useState("")
  const [stopping, setStopping] = useState<AdminSession | null>(null)
  const sessions = useAdminSessions({ filter, q: useSettled(q.trim(), SETTLE_MS) })
  const act = useActOnSession()
  const phone = usePhone()
  const items = sessions.data?.items
  const rows = {
    items: items ?? [],
    busyId: act.isPending ? act.variables.session_id : null,
    onResume: (session: AdminSession) => act.mutate({ session_id: session.session_id, action: "resume" }),
    onStop: setStopping,
  }
  return (
    <Page wide title="Sessions" lead={<SessionsLead sessions={sessions} />}>
      <SessionTiles counts={sessions.data?.counts} filter={filter} onFilter={setFilter} />
      <div>
        <div className="mb-2.5 flex flex-wrap items-center gap-1.5">
          <Filters filter={filter} counts={sessions.data?.counts} onFilter={setFilter} />
          <SearchBox q={q} onSearch={setQ} />
        </div>
        {act.error && <FormError>{errorSentence(act.error)}</FormError>}
        {!items && !sessions.error && <div role="status" aria-label="Loading" className="h-40 animate-breathe rounded-md bg-line-soft" />}
        {items?.length === 0 && <Nothing filter={filter} q={q} onClear={() => [setFilter("all"), setQ("")]} />}
        {items && items.length > 0 && (phone ? <SessionCards {...rows} /> : <SessionTable {...rows} />)}
        {sessions.hasNextPage && (
          <div className="mt-3 flex justify-center">
            <Button disabled={sessions.isFetchingNextPage} onClick={() => void sessions.fetchNextPage()}>
              {sessions.isFetchingNextPage ? "Loading…" : "Show more"}
            </Button>
          </div>
        )}
      </div>
      {stopping && (
        <StopDialog
          session={stopping}
          onClose={() => setStopping(null)}
          onStop={() => {
            act.mutate({ session_id: stopping.session_id, action: "stop" })
            setStopping(null)
          }}
        />
      )}
    </Page>
  )
}

/** In the address, so that a reload or a link shows the same rows. */
function useFilter(): [AdminFilter, (filter: AdminFilter) => void] {
  const named = useSearchParams().get("filter")
  const set = (filter: AdminFilter) => window.history.replaceState(null, "", filter === "all" ? "?" : `?filter=${filter}`)
  return [isFilter(named) ? named : "all", set]
}

type FiltersProps = { filter: AdminFilter; counts: AdminSessions["counts"] | undefined; onFilter: (filter: AdminFilter) => void }

function Filters({ filter, counts, onFilter }: FiltersProps) {
  return (
    <fieldset className="flex flex-wrap gap-1.5">
      <legend className="sr-only">Show</legend>
      {FILTERS.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={filter === name}
          onClick={() => onFilter(name)}
          className={cn(
            "flex items-center gap-1.5 rounded-full border border-line px-[9px] py-[2px] text-s hover:text-text touch:min-h-11 touch:px-3.5",
            filter === name ? "bg-hover text-text" : "text-text-2",
          )}
        >
          {filterWords[name]}
          {counts && <span className="text-text-3 tabular-nums">{counts[name]}</span>}
        </button>
      ))}
    </fieldset>
  )
}

function SearchBox({ q, onSearch }: { q: string; onSearch: (q: string) => void }) {
  return (
    <label className="ml-auto flex w-56 items-center gap-[7px] rounded-sm border border-line bg-bg px-2 text-text-3 focus-within:border-alive phone:w-full">
      <Search className="size-3.5 shrink-0" />
      <input
        type="search"
        aria-label="Search sessions by title"
        placeholder="Search titles"
        value={q}
        onChange={(event) => onSearch(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && onSearch("")}
        className="min-w-0 flex-1 bg-transparent py-[3.5px] text-text outline-none touch:min-h-11 [&::-webkit-search-cancel-button]:hidden"
      />
      {q !== "" && (
        <button type="button" aria-label="Clear search" onClick={() => onSearch("")} className="touch:p-3">
          <X className="size-3.5" />
        </button>
      )}
    </label>
  )
}

function Nothing({ filter, q, onClear }: { filter: AdminFilter; q: string; onClear: () => void }) {
  const narrowed = filter !== "all" || q !== ""
  return (
    <div className="rounded-md border border-line border-dashed px-6 py-10 text-center text-text-3">
      <p>{narrowed ? "No session matches." : "There are no sessions yet. Each task starts one."}</p>
      {narrowed && (
        <Button className="mt-3" onClick={onClear}>
          Show all
        </Button>
      )}
    </div>
  )
}
