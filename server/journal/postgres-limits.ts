import { DURATIONS } from "../../lib/host/durations"

/** A connection that was cut without a word would otherwise be waited for until the kernel gives it up, and the lease with it. */
export const CONNECTION_LIMITS = {
  connectionTimeoutMillis: DURATIONS.queryMs,
  query_timeout: DURATIONS.queryMs,
  keepAlive: true,
}
