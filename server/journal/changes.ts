import type { Tables } from "../platform/database"

/**
 * Row changes as data: they travel to the writer, which runs them in one transaction. A change that expects a row and
 * finds none loses the whole commit, so that every transition states what it expects and learns whether it won.
 */
export type Value = string | number | null
/** Known only inside the transaction: an id the database gave (`as`), or the seq of the commit's nth event (`seq.n`). */
export type Ref = { ref: string }
/** The database's clock plus so many milliseconds; servers' own clocks may differ. */
export type DbNow = { db_now: number }
export type Setter = Value | Ref | DbNow | { inc: number }
export type Condition = Value | Ref | { in: readonly Value[] } | { not: Value } | { gt: Value | DbNow } | { lte: Value | DbNow }

export type TableName = keyof Tables
export type Change =
  | { op: "insert"; table: TableName; values: Record<string, Value | Ref | DbNow>; as?: string }
  | { op: "update"; table: TableName; where: Record<string, Condition>; set: Record<string, Setter>; expect: "one" | "any" }
  | { op: "delete"; table: TableName; where: Record<string, Condition> }
  | { op: "guard"; table: TableName; where: Record<string, Condition> }
  | { op: "guard_fewer"; table: TableName; where: Record<string, Condition>; than: number }

type Columns<T extends TableName, X> = { [C in keyof Tables[T]]?: X | Extract<Tables[T][C], Value> }

export const insert = <T extends TableName>(table: T, values: Columns<T, Ref | DbNow>, as?: string): Change => ({
  op: "insert",
  table,
  values: defined(values),
  ...(as ? { as } : {}),
})
/** Exactly this row, in this state, or the commit is lost. */
export const update = <T extends TableName>(table: T, where: Columns<T, Condition>, set: Columns<T, Setter>): Change => ({
  op: "update",
  table,
  where: defined(where),
  set: defined(set),
  expect: "one",
})
/** As many rows as match, none included. */
export const updateAny = <T extends TableName>(table: T, where: Columns<T, Condition>, set: Columns<T, Setter>): Change => ({
  op: "update",
  table,
  where: defined(where),
  set: defined(set),
  expect: "any",
})
export const remove = <T extends TableName>(table: T, where: Columns<T, Condition>): Change => ({
  op: "delete",
  table,
  where: defined(where),
})
export const guard = <T extends TableName>(table: T, where: Columns<T, Condition>): Change => ({
  op: "guard",
  table,
  where: defined(where),
})

/**
 * Fewer rows than that match. Exact among several servers only behind a guard of a row that all who add such rows guard as well:
 * that one is locked, so that the second to come counts what the first has added.
 */
export const guardFewer = <T extends TableName>(table: T, where: Columns<T, Condition>, than: number): Change => ({
  op: "guard_fewer",
  table,
  where: defined(where),
  than,
})

const defined = <V>(record: Record<string, V | undefined>) =>
  Object.fromEntries(Object.entries(record).filter((pair): pair is [string, V] => pair[1] !== undefined))
