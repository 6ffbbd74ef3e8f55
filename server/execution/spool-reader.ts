import { DURATIONS } from "../../lib/host/durations"
import { killPoint } from "../../lib/host/kill-point"
import { type AgentctlClient, DaemonRefused, readLineBatches } from "../executors"
import type { Logger } from "../platform/logger"
import type { Ingest } from "./ingest"
import { Fenced, type Owned } from "./ownership"
import { toRecords } from "./spool-lines"

/** Acknowledging every record would double the calls; a daemon only needs it to cut its file now and then. */
const ACK_INTERVAL_MS = 1_000

export type ReaderEnd = { kind: "lost"; why: unknown } | { kind: "replaced"; spool_id: string } | { kind: "fenced" }

/** Reads one session's spool for as long as the daemon streams it. What its end means is the coordinator's to decide. */
export function startSpoolReader(options: {
  client: AgentctlClient
  owned: Owned
  ingest: Ingest
  logger: Logger
  onEnd: (end: ReaderEnd) => void
}) {
  const { client, owned, ingest, logger } = options
  const abort = new AbortController()
  let stopped = false
  let ackTimer: NodeJS.Timeout | null = null
  let waiters: { n: number; resolve: () => void; reject: (error: Error) => void }[] = []
  let ended: Error | null = null

  const settleWaiters = () => {
    const { n } = ingest.cursor()
    waiters = waiters.filter((waiter) => {
      if (waiter.n > n) return true
      waiter.resolve()
      return false
    })
  }
  /** A heartbeat comes when the daemon has sent all it has. Records that damage has swallowed would be waited for until the next one. */
  const settleAll = () => {
    for (const waiter of waiters.splice(0)) waiter.resolve()
  }
  const scheduleAck = () => {
    ackTimer ??= setTimeout(() => {
      ackTimer = null
      const { spool_id, n } = ingest.cursor()
      killPoint("ack.due")
      client.ack(owned.ref.id, owned.epoch, spool_id, n).then(
        () => killPoint("ack.sent"),
        (error) => logger.debug({ err: error }, "spool acknowledgement failed"),
      )
    }, ACK_INTERVAL_MS)
  }

  async function readOnce(): Promise<ReaderEnd> {
    const { spool_id, n } = ingest.cursor()
    // A daemon that was restarted has forgotten what was acknowledged, and may be holding its agent back for room.
    scheduleAck()
    const stream = await client.openEvents(owned.ref.id, n, spool_id, abort.signal)
    // Without this a stopped daemon would look idle for ever.
    stream.setTimeout(DURATIONS.streamSilenceMs, () => stream.destroy(new Error("agentctl fell silent")))
    let header = true
    let last = n
    for await (const lines of readLineBatches(stream, settleAll)) {
      const records = toRecords(lines.slice(header ? 1 : 0), last)
      header = false
      last = Math.max(last, records.at(-1)?.n ?? 0)
      await ingest.take(records)
      settleWaiters()
      scheduleAck()
    }
    return { kind: "lost", why: "the stream ended" }
  }

  async function run(): Promise<ReaderEnd> {
    for (;;) {
      try {
        return await readOnce()
      } catch (error) {
        if (error instanceof Fenced) return { kind: "fenced" }
        if (!(error instanceof DaemonRefused)) return { kind: "lost", why: error }
        if (error.code === "SPOOL_MISMATCH") return { kind: "replaced", spool_id: String(error.body.spool_id) }
        if (error.code !== "SPOOL_CUT") return { kind: "lost", why: error }
        await ingest.skipTo(Number(error.body.first))
      }
    }
  }

  const finished = run().then((end) => {
    if (ackTimer) clearTimeout(ackTimer)
    ended = end.kind === "lost" && end.why instanceof Error ? end.why : new Error("the spool's reader has ended")
    for (const waiter of waiters.splice(0)) waiter.reject(ended)
    if (!stopped) options.onEnd(end)
  })

  return {
    client,
    endRun: ingest.endRun,
    /** Settles when everything up to `n` is in the journal, as far as it can still be read. */
    caughtUpTo: (n: number) =>
      new Promise<void>((resolve, reject) => {
        waiters.push({ n, resolve, reject })
        settleWaiters()
        // Nobody reads any more: whoever came after the end would wait for ever, and hold up the whole session.
        if (ended) for (const waiter of waiters.splice(0)) waiter.reject(ended)
      }),
    async stop() {
      stopped = true
      abort.abort()
      await finished
    },
  }
}
export type SpoolReader = ReturnType<typeof startSpoolReader>
