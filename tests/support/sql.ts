import Database from "better-sqlite3"
import { Client } from "pg"

/** Where an instance keeps its database: a PostgreSQL URL, or else a SQLite file. */
export type SqlPlace = { url: string | null; file: string }
type Parameters = readonly (string | number)[]

/** Runs one statement on an instance's database without its server knowing; `?` marks a parameter. Returns how many rows changed. */
export const runSql = async (place: SqlPlace, statement: string, parameters: Parameters = []): Promise<number> =>
  (await query(place, statement, parameters)).changed

export const readRows = async (place: SqlPlace, statement: string, parameters: Parameters = []): Promise<Record<string, unknown>[]> =>
  (await query(place, statement, parameters)).rows

export const countRows = async (place: SqlPlace, table: "tasks"): Promise<number> =>
  Number((await query(place, `SELECT count(*) AS counted FROM ${table}`)).rows[0]?.counted)

type Outcome = { rows: Record<string, unknown>[]; changed: number }

async function query({ url, file }: SqlPlace, statement: string, parameters: Parameters = []): Promise<Outcome> {
  if (url === null) {
    const db = new Database(file, { timeout: 10_000 })
    try {
      const prepared = db.prepare<(string | number)[], Record<string, unknown>>(statement)
      if (prepared.reader) return { rows: prepared.all(...parameters), changed: 0 }
      return { rows: [], changed: prepared.run(...parameters).changes }
    } finally {
      db.close()
    }
  }
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    let nth = 0
    const numbered = statement.replaceAll("?", () => `$${++nth}`)
    const { rows, rowCount } = await client.query<Record<string, unknown>>(numbered, [...parameters])
    return { rows, changed: rowCount ?? 0 }
  } finally {
    await client.end()
  }
}
