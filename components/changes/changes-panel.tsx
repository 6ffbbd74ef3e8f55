"use client"

import { useQuery } from "@tanstack/react-query"
import { FileDiff as FileDiffIcon } from "lucide-react"
import { PanelFailure } from "@/components/workspace/panel-failure"
import { changesQuery, commentsQuery } from "@/lib/client/queries/workspace"
import { ChangesView } from "./changes-view"

/** What the task has changed, file by file, while it changes. */
export function ChangesPanel({ sessionId, onOpenFile }: { sessionId: string; onOpenFile: (path: string) => void }) {
  const changes = useQuery(changesQuery(sessionId))
  const comments = useQuery(commentsQuery(sessionId))
  if (!changes.data) {
    if (changes.error)
      return <PanelFailure what="The changes could not be read." error={changes.error} onRetry={() => void changes.refetch()} />
    return (
      <p role="status" className="grid flex-1 place-items-center text-text-3">
        Looking at the changes…
      </p>
    )
  }
  return (
    <div role="tabpanel" aria-label="Changes" className="flex min-h-0 flex-1 flex-col">
      <ChangesView key={sessionId} sessionId={sessionId} changes={changes.data} comments={comments.data ?? []} onOpenFile={onOpenFile} />
    </div>
  )
}

export const NoChanges = () => (
  <div className="grid flex-1 place-content-center justify-items-center gap-2 px-6 text-center text-text-2">
    <FileDiffIcon aria-hidden="true" className="size-5 text-text-3" />
    <p className="font-[560] text-text">No changes yet</p>
    <p className="max-w-[380px] text-text-3">
      What the agent writes, stages and commits shows up here as it happens. Comment on a line to tell it what to do differently.
    </p>
  </div>
)
