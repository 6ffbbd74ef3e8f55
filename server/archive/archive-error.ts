import { DAEMON_ERRORS, type DaemonErrorCode } from "../../lib/contracts/agentctl/protocol"

/** Why an archive could not be made, kept or brought back. A closed set: whoever shows it has a sentence for each. */
export const ARCHIVE_REASONS = [
  "too_large",
  "disk_full",
  "store_unreachable",
  "daemon_unreachable",
  "checksum_mismatch",
  "archive_missing",
  "hostile_archive",
  "broken_archive",
  "unsupported_archive",
  "workspace_exists",
  "workspace_missing",
  "workspace_changing",
  "workspace_failed",
  "history_missing",
  "agent_running",
  "fenced",
  "aborted",
  "internal",
] as const
export type ArchiveReason = (typeof ARCHIVE_REASONS)[number]

export class ArchiveError extends Error {
  constructor(
    readonly reason: ArchiveReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = "ArchiveError"
  }
}

const REASON_OF: Partial<Record<DaemonErrorCode, ArchiveReason>> = {
  ARCHIVE_TOO_LARGE: "too_large",
  DISK_FULL: "disk_full",
  STORE_UNREACHABLE: "store_unreachable",
  URL_EXPIRED: "store_unreachable",
  CHECKSUM_MISMATCH: "checksum_mismatch",
  ARCHIVE_MISSING: "archive_missing",
  ARCHIVE_HOSTILE: "hostile_archive",
  ARCHIVE_BROKEN: "broken_archive",
  ARCHIVE_UNSUPPORTED: "unsupported_archive",
  WORKSPACE_EXISTS: "workspace_exists",
  WORKSPACE_MISSING: "workspace_missing",
  WORKSPACE_FAILED: "workspace_failed",
  FILE_CHANGED: "workspace_changing",
  HISTORY_MISSING: "history_missing",
  AGENT_BUSY: "agent_running",
  FENCED: "fenced",
  GENERATION_STALE: "fenced",
}

export const fromDaemonCode = (code: DaemonErrorCode, message: string, cause?: unknown) =>
  new ArchiveError(REASON_OF[code] ?? "internal", message, { cause })

/** The code of a refusal. Null: the daemon did not answer, and the call may or may not have been carried out. */
export function refusalOf(error: unknown): DaemonErrorCode | null {
  const code = (error as { code?: unknown } | null)?.code
  return DAEMON_ERRORS.includes(code as DaemonErrorCode) ? (code as DaemonErrorCode) : null
}
