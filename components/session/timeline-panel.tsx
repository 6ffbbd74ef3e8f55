"use client"

import { useEffect, useMemo, useState } from "react"
import { Button } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatSpan, plural } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import type { SessionFeedHandle } from "@/lib/client/queries/session-feed"
import { buildTimeline } from "@/lib/client/timeline"
import { HappeningsTable } from "./happenings-table"
import { TimelineChart } from "./timeline-chart"

const HOUR = 3_600_000
const ranges = [
  { id: "all", words: "All", ms: Number.POSITIVE_INFINITY },
  { id: "week", words: "7 days", ms: 168 * HOUR },
  { id: "day", words: "24 hours", ms: 24 * HOUR },
  { id: "hour", words: "1 hour", ms: HOUR },
] as const
type Range = (typeof ranges)[number]["id"]

/** The whole life of the session on one axis, and below it what happened; renewed once a second, whatever streams meanwhile. */
export function TimelinePanel({ feed }: { feed: SessionFeedHandle }) {
  const now = useNow(1000)
  const [range, setRange] = useState<Range>("all")
  const [pointed, setPointed] = useState<number | null>(null)
  const { phase, hasOlder, loadingOlder, loadAll, log } = feed
  useEffect(() => {
    if (phase === "ready" && hasOlder && !loadingOlder) void loadAll()
  }, [phase, hasOlder, loadingOlder, loadAll])

  const ready = phase === "ready" && now > 0
  const timeline = useMemo(() => (ready && !hasOlder ? buildTimeline(log()) : null), [ready, hasOlder, log, now])
  if (phase === "failed") {
    return (
      <div role="alert" className="grid flex-1 place-content-center gap-3 px-6 text-center text-text-2">
        The timeline could not be loaded. {feed.error && errorSentence(feed.error)}
        <Button onClick={feed.reload}>Try again</Button>
      </div>
    )
  }
  if (!timeline) {
    return (
      <p role="status" className="grid flex-1 place-items-center text-text-3">
        {loadingOlder ? "Loading everything that happened…" : "Loading…"}
      </p>
    )
  }
  const age = now - timeline.from
  const from = Math.max(timeline.from, now - (ranges.find(({ id }) => id === range)?.ms ?? age))
  const happenings = timeline.happenings.filter(({ at }) => at >= from)
  return (
    <div role="tabpanel" aria-label="Timeline" className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto max-w-[1180px] px-6 py-5 phone:px-4">
        <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-2">
          <p className="text-text-3">
            {range === "all" ? `Since it began, ${formatSpan(age)} ago.` : "What it went through."} {summaryOf(timeline)}
          </p>
          <fieldset className="ml-auto flex gap-1">
            <legend className="sr-only">Span of time</legend>
            {ranges
              .filter(({ id, ms }) => id === "all" || ms < age)
              .map(({ id, words }, _, all) => (
                <button
                  key={id}
                  type="button"
                  aria-pressed={range === id}
                  onClick={() => setRange(id)}
                  className={cn(
                    "rounded-full border border-line px-[9px] py-[2px] text-s hover:text-text touch:min-h-11 touch:px-3.5",
                    range === id ? "bg-hover text-text" : "text-text-2",
                    all.length === 1 && "hidden",
                  )}
                >
                  {words}
                </button>
              ))}
          </fieldset>
        </div>
        <TimelineChart timeline={timeline} from={from} to={now} pointed={pointed} />
        <HappeningsTable happenings={happenings} now={now} onPoint={setPointed} />
      </div>
    </div>
  )
}

function summaryOf({ lanes }: ReturnType<typeof buildTimeline>): string {
  const spans = (name: string) => lanes.find((lane) => lane.name === name)?.spans ?? []
  const runs = spans("runs")
  const servers = spans("servers").filter((span) => span.tone === "server")
  const interrupted = runs.filter((run) => run.tone === "warn").length
  const parts = [
    plural(runs.length, "run"),
    interrupted > 0 && `${interrupted} interrupted`,
    servers.length > 1 && plural(servers.length - 1, "server restart"),
    spans("waits").length > 0 && plural(spans("waits").length, "wait"),
  ].filter(Boolean)
  return `${parts.join(", ")}.`
}
