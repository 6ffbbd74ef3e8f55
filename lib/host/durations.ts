/**
 * How long the product waits, wherever a test has to wait as well. Tests replace this module at build time with shorter times;
 * no setting changes it.
 */
export const DURATIONS = {
  /** A server that has not renewed its lease for so long loses its sessions to whichever server claims them. */
  leaseMs: 15_000,
  leaseRenewalMs: 5_000,
  /**
   * A write to PostgreSQL that is not answered by then is given up with its connection. After an outage every server must renew its
   * lease before another one may judge it, so this is well below the lease.
   */
  queryMs: 7_500,
  /** PostgreSQL ends a transaction that its server has left standing so long: the rows it holds are wanted by others, within `queryMs`. */
  stalledTransactionMs: 5_000,
  /** How often a server looks for sessions of servers whose lease has expired, and for waits past their deadline. */
  sweepMs: 5_000,
  /** agentctl sends a blank line so often on a quiet event stream. */
  heartbeatMs: 10_000,
  /** How often agentctl looks whether servers can still find it by its file. */
  publishedCheckMs: 3_000,
  /** A stream without even a blank line for so long comes from a stopped daemon. Must be more than two heartbeats. */
  streamSilenceMs: 25_000,
  /** A daemon that has not answered by then is unknown, not dead. */
  probeMs: 3_000,
  /** After so long a call to a daemon has failed; whether the daemon acted on it is then unknown. */
  callMs: 10_000,
  /** The first retry of an unreachable executor comes after this; each further one waits twice as long, up to the last. */
  firstRetryMs: 250,
  lastRetryMs: 60_000,
  /** A terminal closed while its daemon did not answer: the daemon is told again so often. */
  closeRetryMs: 5_000,
  /** An agent that replayed nothing while it loaded its session may still be about to: its replay is awaited so long. */
  replayGraceMs: 2_000,
  /** Too many wrong passwords on a device the account is known on: each further one waits so long, one after the other. */
  signInSlowdownMs: 2_000,
  /** A database that has not taken a read and a write by then counts as away. */
  storageProbeMs: 3_000,
  /** How often a server with open pages looks whether its database and disk can be used. */
  storageCheckMs: 5_000,
  /** How often open sockets are compared with the sign-ins and tokens they were opened with. */
  socketCheckMs: 30_000,
} satisfies Record<string, number>

export type Durations = typeof DURATIONS
