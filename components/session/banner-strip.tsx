"use client"

import { type ReactNode, useState } from "react"
import { Button } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { Glyph, type GlyphName } from "@/components/ui/glyph"
import { ProgressBar } from "@/components/ui/progress-bar"
import { useNow } from "@/lib/client/hooks"
import type { Banner } from "@/lib/client/session-banner"
import { placeWords } from "@/lib/client/session-phase"
import { asleepWords, progressPercent } from "@/lib/client/task-restore"
import type { SignInWay } from "@/lib/contracts/agent-setup"
import type { RestorePreview, RestoreProgress } from "@/lib/contracts/restore"
import { AbandonDialog } from "./abandon-dialog"
import { FreshDialog } from "./fresh-dialog"
import { SignInDialog } from "./sign-in-dialog"
import { WakingSteps } from "./waking-steps"

export type BannerActions = {
  onContinue: () => void
  onDismiss: (runId: string) => void
  onNewSession: () => void
  onRetry: () => void
  onFresh: () => void
  onAbandon: () => void
  onSignIn: (method: SignInWay) => void
  onCancelWaking: () => void
  /** Asks whether the task should come back. */
  onComeBack: () => void
  /** Nothing can be asked for now. */
  busy: boolean
  /** Why the last thing asked for was refused. */
  refusal: string | null
}

type BannerStripProps = {
  banner: Banner | null
  agentName: string
  actions: BannerActions
  /** How far the files are while they come back. */
  progress?: RestoreProgress | null
}

export function BannerStrip({ banner, agentName, actions, progress = null }: BannerStripProps) {
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
          below={
            progress && (
              <div className="mt-1 mb-0.5">
                <ProgressBar label="Restoring" percent={progressPercent(progress)} />
              </div>
            )
          }
        >
          <WakingSteps waking={banner.waking} done={false} progress={progress} />
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
    case "on_other_server":
      return (
        <Strip glyph="sleep" tone="calm">
          This session is on another server, which does not answer. Its agent may still be working there. Messages are saved and sent when
          that server is back.
        </Strip>
      )
    case "waits_to_start":
      return (
        <Strip glyph="sleep" tone="calm">
          Waiting for a free agent: {placeWords(banner.place)}. This server already runs as many agents as it may. Your message is saved,
          and sent when its turn comes.
        </Strip>
      )
    case "silent":
      return banner.abandoned ? (
        <Strip glyph="sleep" tone="calm">
          The executor was abandoned, but its process still holds this session's place: nothing can be started until it answers or ends.
          Messages wait in the queue.
        </Strip>
      ) : (
        <Strip glyph="sleep" tone="calm" refusal={actions.refusal} acts={<AbandonButton actions={actions} />}>
          The executor does not answer; it may still be working. Nothing was stopped, and it is asked again by itself.
        </Strip>
      )
    case "asleep":
      return <AsleepStrip files={banner.files} actions={actions} />
    case "sign_in":
      return <SignInStrip banner={banner} agentName={agentName} actions={actions} />
    case "error":
      return <ErrorStrip banner={banner} agentName={agentName} actions={actions} />
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

function AsleepStrip({ files, actions }: { files: RestorePreview["files"] | undefined; actions: BannerActions }) {
  const now = useNow(60_000)
  return (
    <Strip
      glyph="sleep"
      tone="calm"
      acts={
        <Button onClick={actions.onComeBack} disabled={actions.busy}>
          Continue
        </Button>
      }
    >
      {asleepWords(now > 0 ? files : undefined, now)}
    </Strip>
  )
}

function AbandonButton({ actions }: { actions: BannerActions }) {
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button look="quiet" onClick={() => setAsking(true)} disabled={actions.busy}>
        Abandon
      </Button>
      {asking && <AbandonDialog onClose={() => setAsking(false)} onAbandon={actions.onAbandon} />}
    </>
  )
}

type SignInStripProps = { banner: Extract<Banner, { kind: "sign_in" }>; agentName: string; actions: BannerActions }

function SignInStrip({ banner: { details, methods }, agentName, actions }: SignInStripProps) {
  const [asking, setAsking] = useState(false)
  return (
    <Strip
      glyph="need"
      tone="warn"
      refusal={actions.refusal}
      acts={
        <>
          <Button onClick={() => setAsking(true)} disabled={actions.busy} title={details}>
            Sign in…
          </Button>
          <Button look="quiet" onClick={actions.onRetry} disabled={actions.busy}>
            Retry
          </Button>
        </>
      }
    >
      {agentName} is not signed in. Transcript, queue and files are kept.
      {asking && <SignInDialog agentName={agentName} methods={methods} onChoose={actions.onSignIn} onClose={() => setAsking(false)} />}
    </Strip>
  )
}

type ErrorStripProps = { banner: Extract<Banner, { kind: "error" }>; agentName: string; actions: BannerActions }

function ErrorStrip({ banner: { sentence, details, abandonable }, agentName, actions }: ErrorStripProps) {
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
          {abandonable && <AbandonButton actions={actions} />}
          {asking && <FreshDialog agentName={agentName} onClose={() => setAsking(false)} onFresh={actions.onFresh} />}
        </>
      }
    >
      {sentence}
    </Strip>
  )
}
