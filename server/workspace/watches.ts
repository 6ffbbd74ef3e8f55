import type { IncomingMessage } from "node:http"
import { setTimeout as delay } from "node:timers/promises"
import { readLineBatches } from "../executors"
import type { Logger } from "../platform/logger"

/** A daemon that is being restarted is back in a second or two; one that is gone is asked for more and more rarely. */
const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 10_000

type Watch = { listeners: Set<() => void>; ended: AbortController; retry: AbortController }
type Deps = { open: (sessionId: string, signal: AbortSignal) => Promise<IncomingMessage>; logger: Logger }

/** One watch at the daemon for a session however many look at it, from the first to the last of them. */
export function createWatches({ open, logger }: Deps) {
  const watches = new Map<string, Watch>()

  async function follow(sessionId: string, watch: Watch) {
    const tell = () => {
      for (const listener of watch.listeners) listener()
    }
    for (let failures = 0; !watch.ended.signal.aborted; ) {
      try {
        const stream = await open(sessionId, watch.ended.signal)
        failures = 0
        // Nobody told of changes before this watch began. That includes the first: a page reads while it is being opened.
        tell()
        for await (const _lines of readLineBatches(stream)) tell()
      } catch (error) {
        if (watch.ended.signal.aborted) return
        failures += 1
        logger.debug({ session: sessionId, err: error }, "workspace is not watched")
      }
      watch.retry = new AbortController()
      const signal = AbortSignal.any([watch.ended.signal, watch.retry.signal])
      await delay(Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS), undefined, { signal }).catch(() => undefined)
    }
  }

  return {
    /** Ends with the call of what it answers. */
    add(sessionId: string, listener: () => void): () => void {
      let watch = watches.get(sessionId)
      // Somebody new asks because there is reason to: what was to be tried later is tried now.
      watch?.retry.abort()
      if (!watch) {
        watch = { listeners: new Set(), ended: new AbortController(), retry: new AbortController() }
        watches.set(sessionId, watch)
        void follow(sessionId, watch)
      }
      const { listeners, ended } = watch
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        ended.abort()
        if (watches.get(sessionId)?.ended === ended) watches.delete(sessionId)
      }
    },
    close() {
      for (const watch of watches.values()) watch.ended.abort()
      watches.clear()
    },
    count: () => watches.size,
  }
}
