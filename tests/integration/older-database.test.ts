import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { migrate } from "../../server/platform/migrate"
import { createPostgresDatabase } from "../support/postgres"
import { DATABASES } from "../support/server"
import { readRows, runSql } from "../support/sql"

const MIGRATIONS = "prisma/migrations"
const SIGN_INS = "sign_ins_and_audit"

test.each(DATABASES)("on %s a token from before there were scopes keeps what it could do, for 90 days", async (kind) => {
  const folder = mkdtempSync(join(tmpdir(), "rewake-older-"))
  const postgres = kind === "postgresql" ? await createPostgresDatabase("test", null) : null
  const file = join(folder, "rewake.db")
  const database = postgres ? ({ kind: "postgresql", url: postgres.url } as const) : ({ kind: "sqlite", file } as const)
  const place = { url: postgres?.url ?? null, file }
  try {
    const names = readdirSync(join(MIGRATIONS, kind)).sort()
    const before = names.slice(
      0,
      names.findIndex((name) => name.endsWith(SIGN_INS)),
    )
    expect(before.length).toBeGreaterThan(5)
    for (const name of before) cpSync(join(MIGRATIONS, kind, name), join(folder, "older", kind, name), { recursive: true })
    await migrate(database, join(folder, "older"))
    const now = new Date().toISOString()
    await runSql(
      place,
      "INSERT INTO users (id, email, name, role, password_hash, auth_epoch, created_at) VALUES ('usr_1', 'a@example.org', 'A', 'admin', 'hash', 3, ?)",
      [now],
    )
    await runSql(
      place,
      "INSERT INTO api_tokens (id, user_id, name, token_sha256, created_at) VALUES ('tok_1', 'usr_1', 'script', 'sha', ?)",
      [now],
    )
    await migrate(database, MIGRATIONS)
    const [token] = await readRows(place, "SELECT scopes, expires_at, created_at FROM api_tokens")
    expect(token).toMatchObject({ scopes: "read write admin", created_at: now })
    expect(String(token?.expires_at)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const days = (Date.parse(String(token?.expires_at)) - Date.now()) / 86_400_000
    expect(Math.abs(days - 90)).toBeLessThan(0.1)
    expect(await readRows(place, "SELECT id, password_hash FROM users")).toEqual([{ id: "usr_1", password_hash: "hash" }])
    // Cookies from before name no sign-in: everybody signs in once.
    expect(await readRows(place, "SELECT id FROM sign_ins")).toEqual([])
  } finally {
    await postgres?.drop()
    rmSync(folder, { recursive: true, force: true })
  }
})
