import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useSyncExternalStore } from "react"
import type { EventKind } from "@/lib/contracts/events"
import { useConnection, useServerTrouble } from "../hooks"
import { type FeedView, feedOf, type SessionFeed } from "../session-feed"
import { restoreQuery } from "./restore"
import { statusQuery } from "./session"
import { refreshTask } from "./tasks"
import { workersQuery } from "./workers"

/** Facts that change what the session's view says: its state, its waits and their secrets. */
const movesView = (kind: EventKind) =>
  kind.startsWith("run.") ||
  kind.startsWith("token.") ||
  kind.startsWith("executor.") ||
  kind === "session.state_changed" ||
  kind === "agent.started" ||
  kind === "agent.exited" ||
  kind === "recovery.receipt" ||
  movesRestore(kind)

/** Facts that change what a restore would bring back. */
const movesRestore = (kind: EventKind) => kind.startsWith("archive.") || kind.startsWith("executor.") || kind === "restore.requested"

export type SessionFeedHandle = FeedView & Pick<SessionFeed, "loadOlder" | "loadAll" | "reload" | "log">

export function useSessionFeed(taskId: number, sessionId: string): SessionFeedHandle {
  const client = useQueryClient()
  const feed = feedOf(sessionId)
  const view = useSyncExternalStore(feed.listen, feed.get, feed.get)
  useEffect(
    () =>
      feed.onEvents((events) => {
        if (events.some((event) => event.kind.startsWith("worker."))) void client.invalidateQueries(workersQuery(sessionId))
        if (!events.some((event) => movesView(event.kind))) return
        refreshTask(client, taskId)
        void client.invalidateQueries(statusQuery(sessionId))
        if (events.some((event) => movesRestore(event.kind))) void client.invalidateQueries(restoreQuery(taskId, sessionId))
      }),
    [client, feed, taskId, sessionId],
  )
  const connection = useConnection()
  const { recoveries } = useServerTrouble()
  useEffect(() => {
    if (connection === "connected" && feed.get().phase === "failed") feed.reload()
  }, [connection, recoveries, feed])
  return { ...view, loadOlder: feed.loadOlder, loadAll: feed.loadAll, reload: feed.reload, log: feed.log }
}
