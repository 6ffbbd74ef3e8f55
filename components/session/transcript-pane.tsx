import { Button } from "@/components/ui/button"
import { errorSentence } from "@/lib/client/error-sentence"
import type { SessionFeedHandle } from "@/lib/client/queries/session-feed"
import { TranscriptView } from "./transcript-view"

/** The transcript, or what stands in its place while there is none. `queued`: messages that are shown below it, not yet part of it. */
export function TranscriptPane({ feed, sent, queued }: { feed: SessionFeedHandle; sent: number; queued: number }) {
  const { transcript } = feed
  if (feed.phase === "failed") {
    return (
      <div className="grid flex-1 place-items-center px-6">
        <div role="alert" className="text-center">
          <p className="mb-3 text-text-2">The transcript could not be loaded. {feed.error && errorSentence(feed.error)}</p>
          <Button onClick={feed.reload}>Try again</Button>
        </div>
      </div>
    )
  }
  if (feed.phase === "loading") return <TranscriptSkeleton />
  if (transcript.items.length === 0 && !transcript.run) {
    if (queued > 0) return <div className="flex-1" />
    return (
      <p className="grid flex-1 place-items-center px-6 text-center text-text-3">Nothing was said yet. Write below what should be done.</p>
    )
  }
  return (
    <TranscriptView
      items={transcript.items}
      run={transcript.waiting ? null : transcript.run}
      hasOlder={feed.hasOlder}
      loadingOlder={feed.loadingOlder}
      sent={sent}
      onOlder={feed.loadOlder}
    />
  )
}

export function TranscriptSkeleton() {
  return (
    <div role="status" aria-label="Loading" className="mx-auto w-full max-w-[796px] flex-1 animate-breathe px-[18px] pt-5">
      <div className="ml-auto h-9 w-2/5 rounded-lg bg-line-soft" />
      {[92, 78, 85, 40].map((width) => (
        <div key={width} className="mt-3 h-3 rounded-sm bg-line-soft" style={{ width: `${width}%` }} />
      ))}
    </div>
  )
}
