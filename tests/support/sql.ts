import Database from "better-sqlite3"
import { Client } from "pg"

/** Where an instance keeps its database: a PostgreSQL URL, or else a SQLite file. */
export type SqlPlace = { url: string | null; file: string }

/** How many rows a table has. */
export async function countRows({ url, file }: SqlPlace, table: "tasks"): Promise<number> {
  const query = `SELECT count(*) AS rows FROM ${table}`
  if (url === null) {
    const db = new Database(file, { readonly: true, timeout: 10_000 })
    try {
      return (db.prepare(query).get() as { rows: number }).rows
    } finally {
      db.close()
    }
  }
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return Number((await client.query<{ rows: string }>(query)).rows[0]?.rows)
  } finally {
    await client.end()
  }
}

/** Runs one statement on an instance's database without its server knowing; `?` marks a parameter. Returns how many rows changed. */
export async function runSql({ url, file }: SqlPlace, statement: string, parameters: readonly (string | number)[] = []): Promise<number> {
  if (url === null) {
    const db = new Database(file, { timeout: 10_000 })
    try {
      return db.prepare(statement).run(...parameters).changes
    } finally {
      db.close()
    }
  }
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    let nth = 0
    return (
      (
        await client.query(
          statement.replaceAll("?", () => `$${++nth}`),
          [...parameters],
        )
      ).rowCount ?? 0
    )
  } finally {
    await client.end()
  }
}
