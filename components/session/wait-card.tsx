"use client"

import { memo } from "react"
import { Button, type ButtonLook } from "@/components/ui/button"
import { Glyph } from "@/components/ui/glyph"
import { Kbd } from "@/components/ui/kbd"
import { formatFull, formatMoment } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import type { Settled, WaitItem } from "@/lib/client/transcript-items"
import type { WaitKind, WaitOption } from "@/lib/contracts/waits"
import { useSessionContext } from "./session-context"
import { orderOptions } from "./use-wait-answers"

/** A permission has a usual answer; the choices of a question are equals. */
function lookOf(kind: WaitKind, option: WaitOption, at: number): ButtonLook {
  if (kind !== "permission") return "plain"
  if (option.kind.startsWith("reject")) return "quiet"
  return at === 0 && option.kind.startsWith("allow") ? "primary" : "plain"
}

const asks = { permission: "asks permission", question: "asks", tool_result: "wants a result" } as const

export const WaitCard = memo(function WaitCard({ item }: { item: WaitItem }) {
  return item.settled ? <SettledWait item={item} settled={item.settled} /> : <OpenWait item={item} />
})

function OpenWait({ item }: { item: WaitItem }) {
  const { agentName, answers } = useSessionContext()
  const now = useNow(60_000)
  const chosen = answers.chosen(item.tokenId)
  const error = answers.error(item.tokenId)
  const ready = answers.waitOf(item.tokenId) !== undefined && chosen === undefined
  return (
    <section
      aria-label={`${agentName} ${asks[item.waitKind]}`}
      className="rounded-md border border-[color-mix(in_oklab,var(--need)_45%,var(--line))] bg-need-soft px-[13px] py-[11px]"
    >
      <h3 className="flex items-baseline gap-2 font-[560]">
        <Glyph name="need" className="translate-y-[2px]" />
        <span className="min-w-0 break-words">
          <span className="text-text-2">
            {agentName} {asks[item.waitKind]}:
          </span>{" "}
          {item.title}
        </span>
      </h3>
      {item.detail && (
        <pre className="mt-2 max-h-60 overflow-auto whitespace-pre-wrap break-words rounded-sm border border-line-soft bg-bg px-2.5 py-[7px] font-mono text-[12.5px] leading-normal">
          {item.detail}
        </pre>
      )}
      <div className="mt-2.5 flex flex-wrap items-center gap-1.5">
        {orderOptions(item.options).map((option, at) => (
          <Button
            key={option.id}
            look={lookOf(item.waitKind, option, at)}
            disabled={!ready}
            aria-pressed={chosen === option.id}
            onClick={() => answers.answer(item.tokenId, option.id)}
            className="max-w-full whitespace-normal text-left"
          >
            {option.label}
            {at < 9 && <Kbd>{at + 1}</Kbd>}
          </Button>
        ))}
        <span className="ml-auto text-s text-text-3" title={formatFull(item.deadlineAt)}>
          {now > 0 && `waits until ${formatMoment(item.deadlineAt, now)}`}
        </span>
      </div>
      {error && (
        <p role="alert" className="mt-2 text-bad">
          {error}
        </p>
      )}
    </section>
  )
}

function settledWords(item: WaitItem, settled: Settled): string {
  if (settled.how === "expired") return "nobody answered in time"
  if (settled.how === "over") return "not answered"
  const { outcome } = settled
  if (outcome.kind === "cancelled") return "cancelled"
  return item.options.find((option) => option.id === outcome.option_id)?.label ?? outcome.option_id
}

function SettledWait({ item, settled }: { item: WaitItem; settled: Settled }) {
  const refused = settled.how !== "answered" || settled.outcome.kind === "cancelled" || isRejection(item, settled.outcome.option_id)
  return (
    <div className="flex items-baseline gap-2 rounded-md border border-line-soft px-2.5 py-1.5 text-s text-text-2">
      <Glyph name={settled.how === "answered" ? (refused ? "cross" : "done") : "warn"} className="translate-y-[2px]" />
      <span className="min-w-0 truncate">{item.title}</span>
      <span className="ml-auto shrink-0 font-[530] text-text">{settledWords(item, settled)}</span>
    </div>
  )
}

const isRejection = (item: WaitItem, optionId: string) =>
  item.options.find((option) => option.id === optionId)?.kind.startsWith("reject") ?? false
