"use client"

import { SessionHead } from "./session-head"
import { SessionTabs } from "./session-tabs"
import { TranscriptSkeleton } from "./transcript-pane"

/** The page's own outline, so that switching is felt at once and nothing moves when it fills. */
export function SessionOutline() {
  return (
    <>
      <SessionHead task={undefined} session={undefined} processesSince={null} />
      <SessionTabs task={undefined} sessionId="" tab="chat" />
      <TranscriptSkeleton />
    </>
  )
}
