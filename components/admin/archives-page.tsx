"use client"

import type { ReactNode } from "react"
import { Button } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { FormError } from "@/components/ui/field"
import { Glyph } from "@/components/ui/glyph"
import { Page } from "@/components/ui/page"
import { archiveErrorSentence, type DueArchive, dueWords, type KeptArchive } from "@/lib/client/archive-words"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatAgo, formatBytes, formatFull, formatMoment, plural } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import { useAdminArchives, useArchiveExpiredNow } from "@/lib/client/queries/admin"
import type { AdminArchives } from "@/lib/contracts/admin"

/** What is kept of archived tasks, what is archived next, and what stands in the way. */
export function ArchivesPage() {
  const { data, error } = useAdminArchives()
  const now = useNow(5000)
  return (
    <Page wide title="Archives" lead={data && <StoreLead store={data.store} />}>
      {error && !data && <FormError>{errorSentence(error)}</FormError>}
      {!data && !error && <div role="status" aria-label="Loading" className="h-40 animate-breathe rounded-md bg-line-soft" />}
      {data && now > 0 && (
        <>
          <Due due={data.due} now={now} />
          <Failed failed={data.archives.filter(({ state }) => state === "failed")} now={now} />
          <Kept kept={data.archives.filter(({ state }) => state === "ready")} now={now} />
        </>
      )}
    </Page>
  )
}

function StoreLead({ store }: { store: AdminArchives["store"] }) {
  const held = store.count === 0 ? "Nothing is kept yet" : `${plural(store.count, "archive")}, ${formatBytes(store.bytes)}`
  return (
    <p>
      {held}, in {store.kind === "s3" ? "the bucket" : "the folder"}{" "}
      <span className="font-mono text-s [overflow-wrap:anywhere]">{store.location}</span>.
    </p>
  )
}

function Due({ due, now }: { due: readonly DueArchive[]; now: number }) {
  return (
    <List
      title="Expired"
      lead="Only these executors will be deleted, each after its archive was made and verified."
      action={due.length > 0 && <ArchiveNow />}
      nothing="No task has expired."
      items={due}
      heads={["Session", "Owner", "Expired", "What happens"]}
      row={(item) => {
        const { words, trouble } = dueWords(item, now)
        return {
          id: item.session_id,
          title: item.title,
          owner: item.owner,
          when: item.expired_at,
          detail: (
            <>
              <span className={cn("flex items-baseline gap-1.5", trouble ? "text-warn" : "text-text-2")}>
                <Glyph name={trouble ? "warn" : "sleep"} size={11} className="translate-y-px" />
                {words}
              </span>
              {item.last_error && <span className="block text-s text-text-3">{archiveErrorSentence(item.last_error)}</span>}
            </>
          ),
        }
      }}
      now={now}
    />
  )
}

/** Begins a round now, also for those whose last try failed. The list below shows what is left to do. */
function ArchiveNow() {
  const run = useArchiveExpiredNow()
  return (
    <span className="flex items-center gap-2">
      {run.isError && <FormError>{errorSentence(run.error)}</FormError>}
      {run.isSuccess && (
        <span role="status" className="text-s text-text-3">
          {run.data.due === 0 ? "Nothing can be archived now." : `Archiving ${plural(run.data.due, "executor")}.`}
        </span>
      )}
      <Button disabled={run.isPending} onClick={() => run.mutate()}>
        Archive expired now
      </Button>
    </span>
  )
}

function Failed({ failed, now }: { failed: readonly KeptArchive[]; now: number }) {
  if (failed.length === 0) return null
  return (
    <List
      title="Failed"
      lead="Each left its executor where it was. What is still due is tried again by itself."
      nothing=""
      items={failed}
      heads={["Session", "Owner", "Tried", "Why"]}
      row={(archive) =>
        archived(
          archive,
          <span className="flex items-baseline gap-1.5 text-bad">
            <Glyph name="cross" size={11} className="translate-y-px" />
            {archiveErrorSentence(archive.error ?? "")}
          </span>,
        )
      }
      now={now}
    />
  )
}

function Kept({ kept, now }: { kept: readonly KeptArchive[]; now: number }) {
  return (
    <List
      title="Kept"
      lead="A task comes back from its newest archive."
      nothing="No archive yet. The first is made when a task expires."
      items={kept}
      heads={["Session", "Owner", "Made", "Size"]}
      row={(archive) =>
        archived(
          archive,
          <span className="text-text-2">
            {formatBytes(archive.bytes ?? 0)} · {plural(archive.files ?? 0, "file")}
          </span>,
        )
      }
      now={now}
    />
  )
}

const archived = ({ id, title, owner, created_at }: KeptArchive, detail: ReactNode): Row => ({ id, title, owner, when: created_at, detail })

type Row = { id: string; title: string; owner: string; when: string; detail: ReactNode }
type ListProps<T> = {
  title: string
  lead: string
  nothing: string
  items: readonly T[]
  heads: readonly [string, string, string, string]
  row: (item: T) => Row
  now: number
  action?: ReactNode
}

/** One table; on a phone its cells stand below each other. */
function List<T>({ title, lead, nothing, items, heads, row, now, action }: ListProps<T>) {
  return (
    <section aria-label={title}>
      <div className="mb-2 flex flex-wrap items-end justify-between gap-x-4 gap-y-2">
        <div>
          <h2 className="flex items-baseline gap-2 font-[600] text-l">
            {title} <span className="font-medium text-s text-text-3 tabular-nums">{items.length}</span>
          </h2>
          <p className="text-text-3">{lead}</p>
        </div>
        {action}
      </div>
      {items.length === 0 ? (
        <p className="rounded-md border border-line border-dashed px-4 py-5 text-center text-text-3">{nothing}</p>
      ) : (
        <table className="w-full border-collapse tabular-nums phone:block">
          <thead className="phone:sr-only">
            <tr>
              {heads.map((head, at) => (
                <th
                  key={head}
                  scope="col"
                  className={cn(
                    "border-line border-b px-2 py-1.5 text-left font-medium text-s text-text-3",
                    at === 0 && "w-[34%]",
                    at === 3 && "w-[40%]",
                  )}
                >
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="phone:block">
            {items.map(row).map(({ id, title, owner, when, detail }) => (
              <tr key={id} className="border-line-soft border-b align-baseline phone:flex phone:flex-wrap phone:gap-x-2 phone:py-2">
                <Cell className="max-w-0 truncate font-[480] phone:max-w-full phone:basis-full">
                  <span title={title}>{title}</span>
                </Cell>
                <Cell className="whitespace-nowrap text-text-2 phone:text-s phone:text-text-3">{owner}</Cell>
                <Cell className="whitespace-nowrap text-text-3 phone:text-s">
                  <span title={formatFull(when)}>
                    {formatMoment(when, now)} <span className="phone:hidden">· {formatAgo(when, now)}</span>
                  </span>
                </Cell>
                <Cell className="[overflow-wrap:anywhere] phone:basis-full">{detail}</Cell>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

const Cell = ({ children, className }: { children: ReactNode; className?: string }) => (
  <td className={cn("px-2 py-[8px] phone:px-0 phone:py-0.5", className)}>{children}</td>
)
