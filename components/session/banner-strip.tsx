"use client"

import { type ReactNode, useState } from "react"
import { Button } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { Glyph, type GlyphName } from "@/components/ui/glyph"
import type { Banner } from "@/lib/client/session-banner"
import { FreshDialog } from "./fresh-dialog"
import { WakingSteps } from "./waking-steps"

export type BannerActions = {
  onContinue: () => void
  onDismiss: (runId: string) => void
  onNewSession: () => void
  onRetry: () => void
  onFresh: () => void
  onCancelWaking: () => void
  busy: boolean
  /** Why the last thing asked for was refused. */
  refusal: string | null
}

export function BannerStrip({ banner, agentName, actions }: { banner: Banner | null; agentName: string; actions: BannerActions }) {
  if (!banner) return null
  switch (banner.kind) {
    case "waking":
      return (
        <Strip
          glyph="work"
          tone="wake"
          acts={
            <Button look="quiet" onClick={actions.onCancelWaking}>
              Cancel
            </Button>
          }
        >
          <WakingSteps waking={banner.waking} done={false} />
        </Strip>
      )
    case "woken":
      return (
        <Strip glyph="done" tone="wake">
          <WakingSteps waking={banner.waking} done />
        </Strip>
      )
    case "interrupted":
      return (
        <Strip
          glyph="warn"
          tone="warn"
          refusal={actions.refusal}
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
          refusal={actions.refusal}
          acts={
            <Button onClick={actions.onNewSession} disabled={actions.busy}>
              Create new session
            </Button>
          }
        >
          This agent doesn't support resuming. Start a new session.
        </Strip>
      )
    case "silent":
      return (
        <Strip glyph="sleep" tone="calm">
          The executor does not answer; it may still be working. Nothing was stopped, and it is asked again by itself.
        </Strip>
      )
    case "error":
      return <ErrorStrip sentence={banner.sentence} details={banner.details} agentName={agentName} actions={actions} />
  }
}

type StripProps = {
  glyph: GlyphName
  tone: "wake" | "warn" | "bad" | "calm"
  acts?: ReactNode
  below?: ReactNode
  refusal?: string | null
  children: ReactNode
}

const tones = { wake: "bg-alive-soft", warn: "bg-warn-soft", bad: "bg-bad-soft", calm: "bg-panel" }

function Strip({ glyph, tone, acts, below, refusal, children }: StripProps) {
  return (
    <div role="status" className={cn("shrink-0 border-line-soft border-b px-[18px] py-[6px]", tones[tone])}>
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1.5">
        <Glyph name={glyph} {...(tone === "wake" ? { className: "text-alive" } : {})} />
        <div className="min-w-0 flex-1 basis-60">{children}</div>
        <div className="ml-auto flex min-h-[30px] items-center gap-1.5">{acts}</div>
      </div>
      {refusal && <p className="mt-0.5 mb-1 text-bad">{refusal}</p>}
      {below}
    </div>
  )
}

type ErrorStripProps = { sentence: string; details: string | null; agentName: string; actions: BannerActions }

function ErrorStrip({ sentence, details, agentName, actions }: ErrorStripProps) {
  const [open, setOpen] = useState(false)
  const [asking, setAsking] = useState(false)
  return (
    <Strip
      glyph="cross"
      tone="bad"
      refusal={actions.refusal}
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
          <Button look="quiet" onClick={() => setAsking(true)} disabled={actions.busy}>
            Start fresh
          </Button>
          {asking && <FreshDialog agentName={agentName} onClose={() => setAsking(false)} onFresh={actions.onFresh} />}
        </>
      }
    >
      {sentence}
    </Strip>
  )
}
