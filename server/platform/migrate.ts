import { createHash, randomUUID } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import Database from "better-sqlite3"
import pg from "pg"
import type { Config } from "./config"

type Migration = { name: string; sql: string; checksum: string }
type Applied = { checksum: string; finished_at: unknown }

/** Brings the database to this build's schema, offline, keeping Prisma's own table of what was applied. Returns the new ones. */
export async function migrate(database: Config["database"], folder: string): Promise<string[]> {
  const migrations = load(join(folder, database.kind))
  return database.kind === "sqlite" ? migrateSqlite(database.file, migrations) : migratePostgres(database.url, migrations)
}

function load(folder: string): Migration[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name, "migration.sql"), "utf8")
      return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") }
    })
}

function isApplied(migration: Migration, row: Applied | undefined): boolean {
  if (!row) return false
  if (row.finished_at === null) throw new Error(`migration ${migration.name} failed earlier; resolve it first`)
  if (row.checksum !== migration.checksum) throw new Error(`migration ${migration.name} was edited after it was applied`)
  return true
}

const TABLE = {
  sqlite: `CREATE TABLE IF NOT EXISTS "_prisma_migrations" ("id" TEXT PRIMARY KEY NOT NULL, "checksum" TEXT NOT NULL, "finished_at" DATETIME, "migration_name" TEXT NOT NULL, "logs" TEXT, "rolled_back_at" DATETIME, "started_at" DATETIME NOT NULL DEFAULT current_timestamp, "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0)`,
  postgresql: `CREATE TABLE IF NOT EXISTS _prisma_migrations (id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ, migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ, started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0)`,
}

function migrateSqlite(file: string, migrations: Migration[]): string[] {
  const db = new Database(file, { timeout: 30_000 })
  try {
    db.pragma("journal_mode = WAL")
    // Before BEGIN: inside a transaction the pragma does nothing, and a table rebuild would cascade and delete child rows.
    db.pragma("foreign_keys = OFF")
    db.exec(TABLE.sqlite)
    db.exec("BEGIN IMMEDIATE")
    const find = db.prepare<[string], Applied>(
      "SELECT checksum, finished_at FROM _prisma_migrations WHERE migration_name = ? AND rolled_back_at IS NULL",
    )
    const record = db.prepare(
      "INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count) VALUES (?, ?, ?, ?, ?, 1)",
    )
    const fresh = migrations.filter((migration) => !isApplied(migration, find.get(migration.name)))
    for (const migration of fresh) {
      db.exec(migration.sql)
      const now = new Date().toISOString().replace("Z", "+00:00")
      record.run(randomUUID(), migration.checksum, migration.name, now, now)
    }
    const broken = db.pragma("foreign_key_check") as unknown[]
    if (broken.length > 0) throw new Error(`foreign keys broken by a migration: ${JSON.stringify(broken.slice(0, 3))}`)
    db.exec("COMMIT")
    return fresh.map((migration) => migration.name)
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK")
    throw error
  } finally {
    db.close()
  }
}

/** A start says that the database is away rather than wait for it. */
const CONNECT_LIMIT_MS = 10_000

/** The lock Prisma's own tool takes, so that two servers starting at once migrate once. */
const ADVISORY_LOCK = 72707369

async function migratePostgres(url: string, migrations: Migration[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_LIMIT_MS })
  // Cut off in between, it would end the process; the query under way fails as well.
  client.on("error", () => {})
  await client.connect()
  const fresh: string[] = []
  try {
    await client.query("SELECT pg_advisory_lock($1)", [ADVISORY_LOCK])
    await client.query(TABLE.postgresql)
    for (const migration of migrations) {
      const found = await client.query<Applied>(
        "SELECT checksum, finished_at FROM _prisma_migrations WHERE migration_name = $1 AND rolled_back_at IS NULL",
        [migration.name],
      )
      if (isApplied(migration, found.rows[0])) continue
      await client.query("BEGIN")
      try {
        await client.query(migration.sql)
        await client.query(
          "INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count) VALUES ($1, $2, $3, now(), 1)",
          [randomUUID(), migration.checksum, migration.name],
        )
        await client.query("COMMIT")
      } catch (error) {
        await client.query("ROLLBACK")
        throw error
      }
      fresh.push(migration.name)
    }
    return fresh
  } finally {
    await client.end()
  }
}
