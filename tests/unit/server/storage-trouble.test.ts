import { expect, test } from "vitest"
import { DatabaseFailure, storageErrorOf, storageTroubleIn } from "../../../server/platform/storage-trouble"
import { unavailableError } from "../../../server/platform/unavailable-error"

const coded = (code: string, message = "") => Object.assign(new Error(message), { code })
/** As Prisma throws what its adapter was told. */
const byPrisma = (cause: object, code = "P2010") =>
  Object.assign(new Error("Raw query failed."), {
    code,
    clientVersion: "7",
    meta: { driverAdapterError: Object.assign(new Error(), { cause }) },
  })

test.each([
  ["full", coded("SQLITE_FULL", "database or disk is full")],
  ["full", coded("ENOSPC")],
  ["full", coded("53100")],
  ["full", byPrisma({ kind: "postgres", originalCode: "53100" })],
  ["full", byPrisma({ kind: "sqlite", originalCode: "SQLITE_FULL" })],
  ["damaged", coded("SQLITE_NOTADB")],
  ["damaged", coded("SQLITE_CORRUPT_INDEX")],
  ["damaged", byPrisma({ kind: "sqlite", originalCode: "SQLITE_CORRUPT", message: "database disk image is malformed" })],
  ["away", coded("SQLITE_IOERR_WRITE")],
  ["away", coded("08006")],
  ["away", coded("57P01", "terminating connection due to administrator command")],
  ["away", coded("57P03", "the database system is starting up")],
  ["away", coded("ECONNREFUSED")],
  ["away", new AggregateError([coded("ECONNREFUSED"), coded("ECONNREFUSED")])],
  ["away", new Error("Connection terminated unexpectedly")],
  ["away", new Error("timeout exceeded when trying to connect")],
  ["away", new Error("Query read timeout")],
  ["away", byPrisma({ kind: "DatabaseNotReachable" }, "P1001")],
  ["away", byPrisma({ kind: "SocketTimeout" }, "P1008")],
  ["away", new DatabaseFailure("connect ECONNREFUSED", { cause: coded("ECONNREFUSED") })],
  [null, coded("23505")],
  [null, coded("SQLITE_CONSTRAINT_UNIQUE")],
  [null, coded("40001")],
  [null, new Error("something else")],
  [null, coded("22P02", 'invalid input: "database or disk is full"')],
  [null, "text"],
] as const)("%s: %s", (trouble, error) => {
  expect(storageTroubleIn(error)).toBe(trouble)
})

test("an error with a cause that is itself ends the search", () => {
  const error: Error & { cause?: unknown } = new Error("round")
  error.cause = error
  expect(storageTroubleIn(error)).toBeNull()
})

test("a refused connection counts only where it was the database's", () => {
  expect(storageErrorOf(coded("ECONNREFUSED"))).toBeNull()
  expect(storageErrorOf(new DatabaseFailure("lost", { cause: coded("ECONNREFUSED") }))?.code).toBe("DATABASE_UNAVAILABLE")
  expect(storageErrorOf(Object.assign(new Error("Connection terminated unexpectedly"), { clientVersion: "7" }))?.code).toBe(
    "DATABASE_UNAVAILABLE",
  )
  expect(storageErrorOf(coded("ENOSPC"))?.code).toBe("STORAGE_FULL")
  expect(storageErrorOf(byPrisma({ kind: "UniqueConstraintViolation" }, "P2002"))).toBeNull()
})

test("a daemon that does not answer is no trouble of the database", () => {
  const silence = Object.assign(new Error("agentctl did not answer", { cause: coded("ECONNREFUSED") }), { name: "DaemonUnreachable" })
  expect(unavailableError(silence)?.code).toBe("EXECUTOR_UNREACHABLE")
  expect(unavailableError(new Error("other"))).toBeNull()
})
