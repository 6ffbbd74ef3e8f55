"use client"

import { cn } from "@/components/ui/cn"
import { usePhone } from "@/lib/client/hooks"
import { momentLabel, tickLabel, ticksBetween } from "@/lib/client/time-axis"
import type { Span, Timeline, Tone } from "@/lib/client/timeline"

const fills: Record<Tone, string> = {
  server: "bg-[color-mix(in_oklab,var(--text-3)_45%,transparent)]",
  unsure: "bg-[color-mix(in_oklab,var(--text-3)_14%,transparent)]",
  alive: "bg-[color-mix(in_oklab,var(--alive)_55%,transparent)]",
  starting: "bg-[color-mix(in_oklab,var(--alive)_25%,transparent)]",
  work: "bg-work opacity-85",
  need: "bg-need",
  // Stripes: an interrupted or failed run is told from the others without its colour.
  warn: "bg-[repeating-linear-gradient(135deg,var(--warn)_0_4px,color-mix(in_oklab,var(--warn)_55%,transparent)_4px_7px)]",
  bad: "bg-[repeating-linear-gradient(45deg,var(--bad)_0_3px,color-mix(in_oklab,var(--bad)_45%,transparent)_3px_6px)]",
  quiet: "bg-text-3",
}

const legend: readonly { tone: Tone; words: string }[] = [
  { tone: "work", words: "run" },
  { tone: "warn", words: "interrupted" },
  { tone: "bad", words: "failed" },
  { tone: "quiet", words: "cancelled" },
  { tone: "need", words: "waits for a person" },
]

type TimelineChartProps = { timeline: Timeline; from: number; to: number; pointed: number | null }

export function TimelineChart({ timeline, from, to, pointed }: TimelineChartProps) {
  const phone = usePhone()
  const span = Math.max(1000, to - from)
  const place = (at: number) => `${Math.min(100, Math.max(0, ((at - from) / span) * 100))}%`
  const { step, ticks } = ticksBetween(from, from + span, phone ? 3 : 8)
  const tones = new Set(timeline.lanes.flatMap((lane) => lane.spans.map((s) => s.tone)))
  return (
    <div className="mb-5 rounded-md border border-line-soft bg-panel px-3.5 pt-3 pb-2">
      <div className="relative">
        <div aria-hidden="true" className="pointer-events-none absolute inset-y-0 right-0 left-[76px] phone:left-[64px]">
          {ticks.map((tick) => (
            <i key={tick} className="absolute inset-y-0 w-px bg-line-soft" style={{ left: place(tick) }} />
          ))}
          {timeline.cuts
            .filter((cut) => cut.at >= from)
            .map((cut) => (
              <i key={`${cut.at}${cut.label}`} className="absolute inset-y-0 w-[2px] bg-warn opacity-60" style={{ left: place(cut.at) }} />
            ))}
          {pointed !== null && pointed >= from && <i className="absolute inset-y-0 w-[2px] bg-text" style={{ left: place(pointed) }} />}
        </div>
        {timeline.lanes.map((lane) => (
          <div
            key={lane.name}
            role="img"
            aria-label={`${lane.name}: ${lane.spans.map((s) => s.label).join("; ") || "none"}`}
            className="flex h-[27px] items-center text-s text-text-3"
          >
            <span className="w-[76px] shrink-0 phone:w-[64px]">{lane.name}</span>
            <span className="relative h-full flex-1 border-line border-l">
              {lane.spans
                .filter((s) => (s.to ?? to) >= from && s.from <= to)
                .map((s) => (
                  <Bar key={s.key} span={s} from={from} to={to} length={span} />
                ))}
            </span>
          </div>
        ))}
      </div>
      <div aria-hidden="true" className="relative ml-[76px] h-[22px] border-line border-t text-text-3 text-xs phone:ml-[64px]">
        {ticks.map((tick) => (
          <span key={tick} className="-translate-x-1/2 absolute top-[4px] whitespace-nowrap tabular-nums" style={{ left: place(tick) }}>
            {tickLabel(tick, step)}
          </span>
        ))}
      </div>
      <ul aria-label="Colours" className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5 text-text-3 text-xs">
        {legend
          .filter(({ tone }) => tones.has(tone))
          .map(({ tone, words }) => (
            <li key={tone} className="flex items-center gap-1.5">
              <i className={cn("h-[9px] w-[14px] rounded-[2px]", fills[tone])} />
              {words}
            </li>
          ))}
        {timeline.cuts.length > 0 && (
          <li className="flex items-center gap-1.5">
            <i className="h-[11px] w-[2px] bg-warn opacity-60" />
            restart
          </li>
        )}
      </ul>
    </div>
  )
}

function Bar({ span, from, to, length }: { span: Span; from: number; to: number; length: number }) {
  const start = Math.max(span.from, from)
  const end = Math.min(span.to ?? to, to)
  return (
    <i
      title={`${span.label}\n${momentLabel(span.from, to)} – ${span.to === null ? "now" : momentLabel(span.to, to)}`}
      className={cn("absolute top-[7px] h-[13px] min-w-[3px] rounded-[3px]", fills[span.tone], span.to === null && "rounded-r-none")}
      style={{ left: `${((start - from) / length) * 100}%`, width: `${((end - start) / length) * 100}%` }}
    />
  )
}
