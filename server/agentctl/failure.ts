import type { DaemonErrorCode } from "../../lib/contracts/agentctl/protocol"

export const STATUS_OF = {
  INVALID_INPUT: 400,
  UNAUTHENTICATED: 401,
  NOT_FOUND: 404,
  FENCED: 409,
  GENERATION_STALE: 409,
  SPOOL_MISMATCH: 409,
  SPOOL_CUT: 410,
  AGENT_NOT_RUNNING: 409,
  PTY_GONE: 409,
  PTY_START_FAILED: 422,
  AGENT_BUSY: 409,
  AGENT_COMMAND_NOT_FOUND: 422,
  AGENT_START_FAILED: 422,
  AGENT_SESSION_REJECTED: 422,
  PROMPT_MISMATCH: 409,
  WORKSPACE_FAILED: 422,
  WORKSPACE_MISSING: 422,
  WORKSPACE_EXISTS: 409,
  ARCHIVE_TOO_LARGE: 422,
  ARCHIVE_MISSING: 422,
  ARCHIVE_HOSTILE: 422,
  ARCHIVE_BROKEN: 422,
  ARCHIVE_UNSUPPORTED: 422,
  CHECKSUM_MISMATCH: 422,
  FILE_CHANGED: 409,
  FILE_EXISTS: 409,
  FILE_TOO_LARGE: 413,
  PATH_MISSING: 404,
  PATH_REFUSED: 422,
  NO_REPOSITORY: 422,
  HISTORY_MISSING: 422,
  DISK_FULL: 507,
  URL_EXPIRED: 410,
  STORE_UNREACHABLE: 502,
  INTERNAL: 500,
} as const satisfies Record<DaemonErrorCode, number>

/** An answer the caller can act on. `details` are merged into the body, so they must never hold a secret. */
export class Failure extends Error {
  constructor(
    readonly code: DaemonErrorCode,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message)
    this.name = "Failure"
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
