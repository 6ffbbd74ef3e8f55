import { AppError } from "../../lib/contracts/errors"

/** What is wrong with the database or its disk. `away` also covers a database that does not answer in time. */
export type StorageTrouble = "full" | "damaged" | "away"

const tag: unique symbol = Symbol.for("rewake.database-failure") as never
/** A write that the database did not carry out, or whose answer was lost: whether it is in is then unknown. */
export class DatabaseFailure extends Error {
  readonly [tag] = true
  override readonly name = "DatabaseFailure"
}

const FULL = ["SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "ENOSPC", "EDQUOT", "53100"]
const DAMAGED = ["SQLITE_NOTADB", "SQLITE_CORRUPT", "XX001", "XX002"]
const AWAY = [
  ...["SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"],
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
  // PostgreSQL: no connection; too many of them; it is stopping, starting or failing over; its disk does not work.
  ...["08", "53300", "57P0", "58030", "25006"],
  // Prisma: unreachable, timed out, closed, no free connection.
  ...["P1001", "P1002", "P1008", "P1017", "P2024", "P2037"],
]
/** Where drivers give no code. */
const AWAY_WORDS =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|database connection is not open/i
/** How Prisma's adapters name what they had from their driver. */
const AWAY_KINDS = ["DatabaseNotReachable", "ConnectionClosed", "SocketTimeout", "TooManyConnections"]
const DAMAGED_WORDS = /file is not a database|database disk image is malformed/i
const FULL_WORDS = /database or disk is full|No space left on device/i

/** What an error of the database or its disk says is wrong with them; null for any other. Pure. */
export function storageTroubleIn(error: unknown): StorageTrouble | null {
  const found = partsOf(error).map(judge)
  return (["full", "damaged", "away"] as const).find((trouble) => found.includes(trouble)) ?? null
}

type Part = { code?: unknown; originalCode?: unknown; kind?: unknown; message?: unknown }

function judge({ code, originalCode, kind, message }: Part): StorageTrouble | null {
  const codes = [code, originalCode].filter((one) => typeof one === "string")
  // With a code the message may hold what somebody wrote, since some errors name the value they refuse.
  const words = codes.length === 0 && typeof message === "string" ? message : ""
  const says = (starts: readonly string[]) => codes.some((one) => starts.some((start) => one.startsWith(start)))
  if (says(FULL) || FULL_WORDS.test(words)) return "full"
  if (says(DAMAGED) || DAMAGED_WORDS.test(words)) return "damaged"
  return says(AWAY) || AWAY_KINDS.includes(String(kind)) || AWAY_WORDS.test(words) ? "away" : null
}

/** An error with everything it was made from: drivers, adapters and Prisma each wrap what they were told in their own way. */
function partsOf(error: unknown, depth = 0): Part[] {
  if (typeof error !== "object" || error === null || depth > 6) return []
  const { cause, errors, meta } = error as { cause?: unknown; errors?: unknown; meta?: { driverAdapterError?: unknown } }
  const inner = [cause, meta?.driverAdapterError, ...(Array.isArray(errors) ? errors : [])]
  return [error, ...inner.flatMap((one) => partsOf(one, depth + 1))]
}

/** Other connections are refused and cut with the same codes: daemons, stores, providers. Whatever passes through Prisma gets its mark. */
const isFromDatabase = (error: object): boolean => tag in error || "clientVersion" in error
const isFullDisk = (error: object): boolean => ["ENOSPC", "EDQUOT"].includes(String((error as { code?: unknown }).code))

/** What a request is told whose database, or whose disk, did not do its part; null for any other error. Pure. */
export function storageErrorOf(error: unknown): AppError<"STORAGE_FULL" | "DATABASE_UNAVAILABLE"> | null {
  if (typeof error !== "object" || error === null || !(isFromDatabase(error) || isFullDisk(error))) return null
  const trouble = storageTroubleIn(error)
  return trouble && storageError(trouble, { cause: error })
}

/** Whatever was to be read or written, nothing was found out. Pure. */
export const isDatabaseAway = (error: unknown): boolean => storageErrorOf(error)?.code === "DATABASE_UNAVAILABLE"

export function storageError(trouble: StorageTrouble, options: ErrorOptions = {}) {
  switch (trouble) {
    case "full":
      return new AppError(
        "STORAGE_FULL",
        "The server's disk is full. What was saved is kept; this change may not be. Free some space on the server, then try again.",
        {},
        options,
      )
    case "damaged":
      return new AppError(
        "DATABASE_UNAVAILABLE",
        "The database is damaged and cannot be read. An admin can check it with `npm run doctor`, and restore a backup.",
        {},
        options,
      )
    case "away":
      return new AppError(
        "DATABASE_UNAVAILABLE",
        "The database does not answer. What was saved is kept, and agents go on working; this change may not be saved. Try again in a moment.",
        {},
        options,
      )
  }
}
