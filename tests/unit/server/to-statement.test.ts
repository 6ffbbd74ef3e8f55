import { describe, expect, test } from "vitest"
import { guard, insert, remove, update, updateAny } from "../../../server/journal"
import type { Change } from "../../../server/journal/changes"
import { type Dialect, toStatement } from "../../../server/journal/sql"

const statement = (change: Change, dialect: Dialect, refs: Record<string, string | number> = {}) =>
  toStatement(change, dialect, new Map(Object.entries(refs)))

describe("a change becomes one statement", () => {
  test("insert, with an id the database gives and one from before", () => {
    const change = insert("tasks", { owner_id: "usr_1", title: { ref: "title" } as never, hidden_at: null }, "task_id")
    expect(statement(change, "sqlite", { title: "T" })).toEqual({
      sql: `INSERT INTO "tasks" ("owner_id", "title", "hidden_at") VALUES (?, ?, ?) RETURNING id`,
      params: ["usr_1", "T", null],
    })
    expect(statement(change, "postgresql", { title: "T" })).toEqual({
      sql: `INSERT INTO "tasks" ("owner_id", "title", "hidden_at") VALUES ($1, $2, $3) RETURNING id`,
      params: ["usr_1", "T", null],
    })
  })
  test("update, with a count raised and every kind of condition", () => {
    const change = update(
      "sessions",
      {
        id: "s",
        open_run_id: null,
        owner_boot_id: { not: null },
        state: { in: ["RUNNING", "STARTING"] },
        spool_seq: { lte: 5 },
        runtime: { not: "docker" },
      },
      { owner_epoch: { inc: 1 }, last_seq: { ref: "seq.0" } },
    )
    expect(statement(change, "postgresql", { "seq.0": 9 })).toEqual({
      sql: `UPDATE "sessions" SET "owner_epoch" = "owner_epoch" + $1, "last_seq" = $2 WHERE "id" = $3 AND "open_run_id" IS NULL AND "owner_boot_id" IS NOT NULL AND "state" IN ($4, $5) AND "spool_seq" <= $6 AND "runtime" <> $7`,
      params: [1, 9, "s", "RUNNING", "STARTING", 5, "docker"],
    })
    expect(statement(change, "sqlite", { "seq.0": 9 }).params).toEqual([1, 9, "s", "RUNNING", "STARTING", 5, "docker"])
  })
  test("time is the database's own, on both", () => {
    const renew = updateAny("boots", { id: "b", lease_until: { gt: { db_now: 0 } } }, { lease_until: { db_now: 15_000 } })
    expect(statement(renew, "sqlite")).toMatchObject({
      sql: expect.stringMatching(/strftime.*WHERE.*> strftime/),
      params: [15_000, "b", 0],
    })
    expect(statement(renew, "postgresql")).toMatchObject({
      sql: expect.stringMatching(/clock_timestamp.*WHERE.*clock_timestamp/),
      params: [15_000, "b", 0],
    })
  })
  test("a guard locks what it looks at where several servers may write", () => {
    expect(statement(guard("sessions", { id: "s" }), "sqlite")).toEqual({ sql: `SELECT 1 FROM "sessions" WHERE "id" = ?`, params: ["s"] })
    expect(statement(guard("sessions", { id: "s" }), "postgresql").sql).toBe(`SELECT 1 FROM "sessions" WHERE "id" = $1 FOR UPDATE`)
  })
  test("delete", () => {
    expect(statement(remove("prompts", { session_id: "s" }), "postgresql")).toEqual({
      sql: `DELETE FROM "prompts" WHERE "session_id" = $1`,
      params: ["s"],
    })
  })
  test("values never become part of the text, whatever they hold", () => {
    const nasty = `'; DROP TABLE users; --`
    for (const dialect of ["sqlite", "postgresql"] as const) {
      for (const change of [
        insert("settings", { key: nasty, value: nasty }),
        update("settings", { key: nasty }, { value: nasty }),
        remove("settings", { key: nasty }),
      ]) {
        expect(statement(change, dialect).sql).not.toContain("DROP")
      }
    }
  })
  test("changes of one shape share one text, so that each is prepared once", () => {
    const text = (id: string) => statement(update("sessions", { id }, { state: id }), "postgresql").sql
    expect(text("a")).toBe(text("b"))
  })
  test("columns left undefined are left alone, and an unknown reference is an error, not a null", () => {
    const partial = insert("tasks", { title: "T", repository: undefined as never })
    expect(statement(partial, "sqlite").sql).toBe(`INSERT INTO "tasks" ("title") VALUES (?)`)
    expect(() => statement(update("tasks", { id: 1 }, { title: { ref: "nothing" } as never }), "sqlite")).toThrow(/nothing/)
  })
})
