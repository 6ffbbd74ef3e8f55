"use client"

import { type ReactNode, useState } from "react"
import { Button } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { Glyph, type GlyphName } from "@/components/ui/glyph"
import { formatSpan } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import type { Banner } from "@/lib/client/session-banner"
import type { Waking, WakingStep } from "@/lib/client/transcript-items"

export type BannerActions = {
  onContinue: () => void
  onDismiss: (runId: string) => void
  onNewSession: () => void
  onRetry: () => void
  busy: boolean
}

export function BannerStrip({ banner, actions }: { banner: Banner | null; actions: BannerActions }) {
  if (!banner) return null
  switch (banner.kind) {
    case "waking":
      return (
        <Strip glyph="work" tone="wake">
          <WakingSteps waking={banner.waking} />
        </Strip>
      )
    case "interrupted":
      return (
        <Strip
          glyph="warn"
          tone="warn"
          acts={
            <>
              <Button onClick={actions.onContinue} disabled={actions.busy}>
                Continue
              </Button>
              <Button look="quiet" onClick={() => actions.onDismiss(banner.runId)}>
                Dismiss
              </Button>
            </>
          }
        >
          {banner.sentence}
        </Strip>
      )
    case "not_resumable":
      return (
        <Strip
          glyph="sleep"
          tone="warn"
          acts={
            <Button onClick={actions.onNewSession} disabled={actions.busy}>
              Create new session
            </Button>
          }
        >
          This agent doesn't support resuming. Start a new session.
        </Strip>
      )
    case "error":
      return <ErrorStrip sentence={banner.sentence} details={banner.details} actions={actions} />
  }
}

type StripProps = { glyph: GlyphName; tone: "wake" | "warn" | "bad"; acts?: ReactNode; below?: ReactNode; children: ReactNode }

const tones = { wake: "bg-alive-soft", warn: "bg-warn-soft", bad: "bg-bad-soft" }

function Strip({ glyph, tone, acts, below, children }: StripProps) {
  return (
    <div role="status" className={cn("shrink-0 border-line-soft border-b px-[18px] py-[6px]", tones[tone])}>
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1.5">
        <Glyph name={glyph} {...(tone === "wake" ? { className: "text-alive" } : {})} />
        <div className="min-w-0 flex-1 basis-60">{children}</div>
        <div className="ml-auto flex min-h-[30px] items-center gap-1.5">{acts}</div>
      </div>
      {below}
    </div>
  )
}

function ErrorStrip({ sentence, details, actions }: { sentence: string; details: string | null; actions: BannerActions }) {
  const [open, setOpen] = useState(false)
  return (
    <Strip
      glyph="cross"
      tone="bad"
      below={open && <pre className="mt-1 mb-1.5 max-h-40 overflow-auto whitespace-pre-wrap font-mono text-s text-text-2">{details}</pre>}
      acts={
        <>
          <Button onClick={actions.onRetry} disabled={actions.busy}>
            Retry
          </Button>
          {details && (
            <Button look="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
              Details
            </Button>
          )}
        </>
      }
    >
      {sentence}
    </Strip>
  )
}

const stepNames = (first: boolean): Record<WakingStep["name"], string> => ({
  executor: "starting executor",
  memory: first ? "starting agent" : "loading memory",
})

/** Every step is named from the start; the running one is marked and shows its time. */
function WakingSteps({ waking }: { waking: Waking }) {
  const now = useNow(200)
  const names = stepNames(waking.first)
  return (
    <>
      <b className="font-[560]">{waking.first ? "Starting" : "Waking"} this session: </b>
      {(["executor", "memory"] as const).map((name, at) => {
        const step = waking.steps.find((s) => s.name === name)
        const took = step && (step.doneAt ? Date.parse(step.doneAt) : now) - Date.parse(step.at)
        return (
          <span
            key={name}
            aria-current={step && !step.doneAt ? "step" : undefined}
            className={step ? (step.doneAt ? "text-text-2" : "font-[530]") : "text-text-3"}
          >
            {at > 0 && <span className="text-text-3"> → </span>}
            {names[name]}
            {took !== undefined && now > 0 && <span className="text-text-3 tabular-nums"> {formatSpan(took)}</span>}
            {step?.doneAt && " ✓"}
          </span>
        )
      })}
    </>
  )
}
