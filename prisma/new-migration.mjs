// npm run migration -- NAME: writes the SQL that leads from the last migrated schema to prisma/schema.prisma, for both databases.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { migrationSql } from "./schema-engine.mjs"
import { PROVIDERS, prismaFolder, schemaFile, snapshotFile } from "./schema-variants.mjs"

const name = process.argv.slice(2).join("_").toLowerCase()
if (!/^[a-z0-9][a-z0-9_-]*$/.test(name)) stop("Say what changes: npm run migration -- add_task_color")

const schema = readFileSync(schemaFile, "utf8")
const previous = existsSync(snapshotFile) ? readFileSync(snapshotFile, "utf8") : null

const scripts = []
for (const provider of PROVIDERS) {
  scripts.push([provider, await migrationSql(provider, previous, schema).catch((error) => stop(error.message))])
}

if (scripts.every(([, sql]) => sql === "")) {
  if (previous === schema) stop("prisma/schema.prisma has not changed since the last migration.")
  writeFileSync(snapshotFile, schema)
  console.log("Only comments or client settings changed: the snapshot is up to date, no migration is needed.")
} else {
  const stamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14)
  for (const [provider, sql] of scripts) {
    const file = join(prismaFolder, "migrations", provider, `${stamp}_${name}`, "migration.sql")
    mkdirSync(dirname(file), { recursive: true })
    // Both databases get the same list of migrations, also when only one of them has something to do.
    writeFileSync(file, sql === "" ? "-- Nothing to change on this database.\nSELECT 1;\n" : `${sql}\n`)
    console.log(relative(process.cwd(), file))
  }
  writeFileSync(snapshotFile, schema)
}
process.exit(0)

function stop(sentence) {
  console.error(sentence)
  process.exit(1)
}
