import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { migrationSql } from "../../prisma/schema-engine.mjs"
import { root } from "./source-files"

const read = (path: string) => readFileSync(join(root, "prisma", path), "utf8")
const migrations = (provider: string) => readdirSync(join(root, "prisma", "migrations", provider)).sort()

test.each(["sqlite", "postgresql"] as const)("no change to the schema is without its migration (%s)", async (provider) => {
  const missing = await migrationSql(provider, read("migrations/schema.snapshot.prisma"), read("schema.prisma"))
  expect(missing, "run: npm run migration -- what_changes").toBe("")
})

test("both databases have the same migrations", () => {
  expect(migrations("sqlite")).toEqual(migrations("postgresql"))
})
