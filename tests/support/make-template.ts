import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { createApiTokens, createPasswords, createPeople, scopesOfRole } from "../../server/auth"
import { openJournal, openWriter } from "../../server/journal"
import { realClock } from "../../server/platform/clock"
import type { Config } from "../../server/platform/config"
import { openDatabase } from "../../server/platform/database"
import { migrate } from "../../server/platform/migrate"
import { createPostgresDatabase } from "./postgres"
import { ADMIN, type Template } from "./template"

/**
 * Makes what every test server starts from, once per test run: a migrated database with an admin and a token, as a SQLite file
 * and as a PostgreSQL template. Migrating, hashing a password and issuing a token again for each of 200 servers took minutes.
 */
const [folder, project] = process.argv.slice(2) as [string, string]

async function prepare(database: Config["database"]): Promise<string> {
  await migrate(database, join(project, "prisma", "migrations"))
  const db = await openDatabase(database)
  const journal = openJournal({
    writer: openWriter(database, { script: new URL(`file://${project}/dist/writer-thread.mjs`) }),
    db,
    clock: realClock,
  })
  try {
    const deps = { db, journal, clock: realClock, passwords: createPasswords() }
    const admin = await createPeople(deps).createFirstAdmin({ ...ADMIN, name: "Admin" })
    return (
      await createApiTokens(deps).issue(admin.id, { name: "tests", days: 90, most: { scopes: scopesOfRole("admin"), expires_at: null } })
    ).token
  } finally {
    await journal.close()
    await db.$disconnect()
  }
}

const file = join(folder, "rewake.db")
const template: Template = { file, token: await prepare({ kind: "sqlite", file }), postgresql: null }
if (process.env.TEST_DATABASE_URL) {
  const { url } = await createPostgresDatabase("rewake_template")
  template.postgresql = { name: new URL(url).pathname.slice(1), token: await prepare({ kind: "postgresql", url }) }
}
writeFileSync(join(folder, "template.json"), JSON.stringify(template))
