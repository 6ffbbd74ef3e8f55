import type { Change, Condition, DbNow, Ref, Setter, Value } from "./changes"

export type Dialect = "sqlite" | "postgresql"
export type Refs = Map<string, Value>
export type Statement = { sql: string; params: Value[] }

const now: Record<Dialect, (ms: string) => string> = {
  sqlite: (ms) => `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (${ms} / 1000.0) || ' seconds')`,
  postgresql: (ms) =>
    `to_char((clock_timestamp() + ${ms}::float8 * interval '1 millisecond') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
}

/** Change → statement. The text depends only on the change's shape, so that each shape is prepared once. */
export function toStatement(change: Change, dialect: Dialect, refs: Refs): Statement {
  const params: Value[] = []
  const place = (value: Value) => {
    params.push(value)
    return dialect === "sqlite" ? "?" : `$${params.length}`
  }
  const scalar = (value: Value | Ref | DbNow) => {
    if (value !== null && typeof value === "object") return "ref" in value ? place(resolve(value, refs)) : now[dialect](place(value.db_now))
    return place(value)
  }
  const setter = (column: string, value: Setter) =>
    value !== null && typeof value === "object" && "inc" in value
      ? `"${column}" = "${column}" + ${place(value.inc)}`
      : `"${column}" = ${scalar(value)}`
  const condition = (column: string, value: Condition) => {
    if (value === null) return `"${column}" IS NULL`
    if (typeof value !== "object" || "ref" in value) return `"${column}" = ${scalar(value)}`
    if ("in" in value) return `"${column}" IN (${value.in.map(place).join(", ")})`
    if ("gt" in value) return `"${column}" > ${scalar(value.gt)}`
    if ("lte" in value) return `"${column}" <= ${scalar(value.lte)}`
    return value.not === null ? `"${column}" IS NOT NULL` : `"${column}" <> ${place(value.not)}`
  }
  const where = (conditions: Record<string, Condition>) =>
    Object.entries(conditions)
      .map(([column, value]) => condition(column, value))
      .join(" AND ")

  switch (change.op) {
    case "insert": {
      const columns = Object.keys(change.values)
      const values = Object.values(change.values).map(scalar)
      const sql = `INSERT INTO "${change.table}" (${columns.map((c) => `"${c}"`).join(", ")}) VALUES (${values.join(", ")})`
      return { sql: change.as ? `${sql} RETURNING id` : sql, params }
    }
    case "update": {
      const set = Object.entries(change.set)
        .map(([column, value]) => setter(column, value))
        .join(", ")
      return { sql: `UPDATE "${change.table}" SET ${set} WHERE ${where(change.where)}`, params }
    }
    case "delete":
      return { sql: `DELETE FROM "${change.table}" WHERE ${where(change.where)}`, params }
    case "guard":
      // Locked on PostgreSQL: without it the guarded row could change between this check and the commit.
      return { sql: `SELECT 1 FROM "${change.table}" WHERE ${where(change.where)}${dialect === "postgresql" ? " FOR UPDATE" : ""}`, params }
    case "guard_fewer": {
      const counted = `SELECT count(*) FROM "${change.table}" WHERE ${where(change.where)}`
      return { sql: `SELECT 1 AS "one" WHERE (${counted}) < ${place(change.than)}`, params }
    }
  }
}

function resolve({ ref }: Ref, refs: Refs): Value {
  const value = refs.get(ref)
  if (value === undefined) throw new Error(`unknown ref ${ref}`)
  return value
}
