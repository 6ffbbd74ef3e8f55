import { SessionHead } from "@/components/session/session-head"
import { SessionTabs } from "@/components/session/session-tabs"
import { TranscriptSkeleton } from "@/components/session/transcript-pane"

/** The page's own outline, so that switching is felt at once and nothing moves when it fills. */
export default function Loading() {
  return (
    <>
      <SessionHead task={undefined} session={undefined} processesSince={null} />
      <SessionTabs task={undefined} sessionId="" />
      <TranscriptSkeleton />
    </>
  )
}
