import { randomBytes } from "node:crypto"
import { Client } from "pg"

/** A database for one test: empty, or a copy of the template of that name. */
export async function createPostgresDatabase(
  prefix = "test",
  template: string | null = null,
): Promise<{ url: string; drop(): Promise<void> }> {
  const admin = process.env.TEST_DATABASE_URL
  if (!admin) throw new Error("TEST_DATABASE_URL is not set: list this file under an integration or recovery project")
  const name = `${prefix}_${randomBytes(8).toString("hex")}`
  await onServer(admin, `CREATE DATABASE "${name}"${template === null ? "" : ` TEMPLATE "${template}"`}`)
  const url = new URL(admin)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => onServer(admin, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`) }
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
