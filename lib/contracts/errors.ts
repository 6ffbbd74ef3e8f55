/** Codes a client may act on; the details beside each are part of the contract. */
export type ErrorDetails = {
  INVALID_INPUT: { issues: readonly string[] }
  CURSOR_AHEAD: { head_seq: number }
  UNAUTHENTICATED: object
  /** The server is known by another name: see PUBLIC_URL. */
  WRONG_HOST: object
  REQUEST_TIMEOUT: object
  FORBIDDEN: object
  NOT_FOUND: { entity: string }
  METHOD_NOT_ALLOWED: { allowed: readonly string[] }
  CONFLICT: object
  IDEMPOTENCY_CONFLICT: object
  PROMPT_NOT_QUEUED: { prompt_id: string }
  RESUME_TOKEN_REJECTED: { reason: "expired" | "consumed" | "revoked" | "wrong_run" | "unknown" }
  SESSION_TERMINAL: { state: string }
  SESSION_NOT_RESUMABLE: object
  TASK_EXPIRED_RESTORABLE: {
    task_id: number
    task_type: string
    expire_hours: number
    last_updated_at: string
    reason: "expired" | "executor_deleted"
  }
  TASK_NOT_RESTORABLE: { state: string }
  PAYLOAD_TOO_LARGE: { limit_bytes: number }
  /** `what`: of which the limit is. */
  IMPORT_TOO_LARGE: { what: string; limit: number }
  WORKSPACE_NOT_FOUND: { path: string }
  WORKSPACE_NOT_ALLOWED: { path: string }
  /** The files were put away with their task; it has to be continued first. */
  WORKSPACE_PUT_AWAY: object
  NO_REPOSITORY: object
  PATH_REFUSED: { reason: string }
  /** `etag` is the file's now; null when it is gone. */
  FILE_CONFLICT: { reason: "exists" | "changed"; etag: string | null }
  AGENT_UNAVAILABLE: { agent: string }
  RATE_LIMITED: { retry_after_seconds: number }
  QUEUE_FULL: { limit: number }
  WORKER_LIMIT: { limit: number }
  NOT_READY: object
  /** The disk of the server, or of the session's executor. */
  STORAGE_FULL: object
  DATABASE_UNAVAILABLE: object
  /** The session's daemon does not answer: whether it acted on the call is unknown. */
  EXECUTOR_UNREACHABLE: object
  INTERNAL: object
}
export type ErrorCode = keyof ErrorDetails

export const httpStatus = {
  INVALID_INPUT: 400,
  CURSOR_AHEAD: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  IDEMPOTENCY_CONFLICT: 409,
  PROMPT_NOT_QUEUED: 409,
  RESUME_TOKEN_REJECTED: 409,
  SESSION_TERMINAL: 409,
  SESSION_NOT_RESUMABLE: 409,
  TASK_EXPIRED_RESTORABLE: 409,
  TASK_NOT_RESTORABLE: 409,
  PAYLOAD_TOO_LARGE: 413,
  IMPORT_TOO_LARGE: 413,
  WRONG_HOST: 421,
  WORKSPACE_NOT_FOUND: 422,
  WORKSPACE_NOT_ALLOWED: 422,
  WORKSPACE_PUT_AWAY: 409,
  NO_REPOSITORY: 422,
  PATH_REFUSED: 422,
  FILE_CONFLICT: 409,
  AGENT_UNAVAILABLE: 422,
  RATE_LIMITED: 429,
  QUEUE_FULL: 429,
  WORKER_LIMIT: 429,
  INTERNAL: 500,
  NOT_READY: 503,
  STORAGE_FULL: 503,
  DATABASE_UNAVAILABLE: 503,
  EXECUTOR_UNREACHABLE: 503,
} satisfies Record<ErrorCode, number>

const tag: unique symbol = Symbol.for("rewake.error") as never

export class AppError<C extends ErrorCode = ErrorCode> extends Error {
  readonly [tag] = true
  constructor(
    readonly code: C,
    message: string,
    readonly details: ErrorDetails[C],
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = "AppError"
  }
}

// `instanceof` lies here: the server and Next's bundles each load their own copy of this class.
export const isAppError = (error: unknown): error is AppError => typeof error === "object" && error !== null && tag in error

export type ErrorBody = { code: ErrorCode; message: string } & Record<string, unknown>
export const toErrorBody = (error: AppError): ErrorBody => ({ code: error.code, message: error.message, ...error.details })

const PASSING: readonly ErrorCode[] = ["NOT_READY", "STORAGE_FULL", "DATABASE_UNAVAILABLE", "EXECUTOR_UNREACHABLE"]
/** The same request may be answered a little later, without anybody changing it. */
export const isPassing = (error: AppError): boolean => PASSING.includes(error.code)

/** Rebuilds in the browser the error a response or an ack carries; null when the body is none of ours. */
export function fromErrorBody(body: unknown): AppError | null {
  if (typeof body !== "object" || body === null) return null
  const { code, message, ...details } = body as Record<string, unknown>
  if (typeof code !== "string" || !(code in httpStatus)) return null
  return new AppError(code as ErrorCode, typeof message === "string" ? message : code, details as never)
}
