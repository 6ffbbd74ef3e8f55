"use client"

import { cn } from "@/components/ui/cn"
import { formatFull } from "@/lib/client/format"
import { usePhone } from "@/lib/client/hooks"
import { momentLabel } from "@/lib/client/time-axis"
import type { Happening, Tone } from "@/lib/client/timeline"

const tones: Record<Tone, string> = {
  server: "text-text-2",
  unsure: "text-text-3",
  alive: "text-alive",
  starting: "text-text-2",
  work: "text-work",
  need: "text-need",
  warn: "text-warn",
  bad: "text-bad",
  quiet: "text-text-2",
}

type HappeningsTableProps = { happenings: readonly Happening[]; now: number; onPoint: (at: number | null) => void }

/** What happened, newest first; a row under the pointer is marked on the axis above. */
export function HappeningsTable({ happenings, now, onPoint }: HappeningsTableProps) {
  const phone = usePhone()
  if (happenings.length === 0) return <p className="py-6 text-center text-text-3">Nothing out of the ordinary in this time.</p>
  if (phone) {
    return (
      <ol aria-label="What happened, newest first">
        {happenings.map((happening) => (
          <li key={happening.key} className="border-line-soft border-b py-2">
            <span className={tones[happening.tone]}>{happening.what}</span>
            <span className="float-right text-s text-text-3 tabular-nums">{momentLabel(happening.at, now)}</span>
            <p className="text-text-2 [overflow-wrap:anywhere]">{happening.detail}</p>
          </li>
        ))}
      </ol>
    )
  }
  return (
    <table className="w-full border-collapse tabular-nums" onPointerLeave={() => onPoint(null)}>
      <caption className="sr-only">What happened, newest first</caption>
      <thead>
        <tr className="text-left text-s text-text-3">
          <th scope="col" className="border-line border-b px-2 py-1.5 font-medium">
            Time
          </th>
          <th scope="col" className="border-line border-b px-2 py-1.5 font-medium">
            What
          </th>
          <th scope="col" className="w-full border-line border-b px-2 py-1.5 font-medium">
            Detail
          </th>
        </tr>
      </thead>
      <tbody>
        {happenings.map((happening) => (
          <tr
            key={happening.key}
            onPointerEnter={() => onPoint(happening.at)}
            className="align-baseline hover:bg-[color-mix(in_oklab,var(--hover)_50%,transparent)]"
          >
            <td
              className="whitespace-nowrap border-line-soft border-b px-2 py-[7px] text-text-3"
              title={formatFull(new Date(happening.at).toISOString())}
            >
              {momentLabel(happening.at, now)}
            </td>
            <td className={cn("whitespace-nowrap border-line-soft border-b px-2 py-[7px]", tones[happening.tone])}>{happening.what}</td>
            <td className="break-words border-line-soft border-b px-2 py-[7px] text-text-2 [overflow-wrap:anywhere]">{happening.detail}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
