/** Moments at which a crash is at its most cruel: something is on one disk and not yet on the other. */
export const KILL_POINTS = {
  server: [
    "boot.leased",
    "append.committed",
    "claim.committed",
    "reconcile.spool_read",
    "adopt.committed",
    "interrupt.committed",
    "launch.spawned",
    "resume.started",
    "resume.agent_up",
    "deliver.committed",
    "deliver.accepted",
    "ingest.read",
    "ingest.committed",
    "answer.committed",
    "answer.handed_over",
    "cancel.committed",
    "ack.due",
    "ack.sent",
    "writer.applied",
    "writer.committed",
    "worker.raised",
    "worker.closed",
  ],
  daemon: [
    "daemon.locked",
    "daemon.published",
    "predecessor.ended",
    "agent.spawned",
    "agent.begun",
    "ledger.recorded",
    "prompt.spooled",
    "prompt.sent",
    "spool.written",
    "spool.synced",
    "permission.settled",
    "turn.ended",
    "exit.spooled",
    "pty.divided",
    "pty.spawned",
  ],
  /** Of the server, on the way of an expired executor into its archive and back. */
  put_away: [
    "reap.claimed",
    "reap.stopped",
    "reap.packed",
    "reap.deleted",
    "reap.discarded",
    "restore.accepted",
    "restore.unpacked",
    "restore.told",
  ],
} as const
export type KillPoint = (typeof KILL_POINTS)[keyof typeof KILL_POINTS][number]

/** Nothing, in the product. The build that `npm run torture` runs has another module in this one's place, which kills its process here. */
export function killPoint(_name: KillPoint): void {}
