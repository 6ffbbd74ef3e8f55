// One schema serves two databases: these are the only lines that differ between them.
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const PROVIDERS = ["sqlite", "postgresql"]

export const prismaFolder = dirname(fileURLToPath(import.meta.url))
export const schemaFile = join(prismaFolder, "schema.prisma")
export const snapshotFile = join(prismaFolder, "migrations", "schema.snapshot.prisma")

/** The schema's text for one provider. */
export function forProvider(schema, provider) {
  return replaceOnce(
    schema,
    /(datasource\s+\w+\s*\{[^}]*?provider\s*=\s*)"sqlite"/,
    `$1"${provider}"`,
    'a datasource with provider = "sqlite"',
  )
}

/** The schema's text for one provider, with its client generated into `output`. */
export function forClient(schema, provider, output) {
  return replaceOnce(
    forProvider(schema, provider),
    /(generator\s+\w+\s*\{[^}]*?output\s*=\s*)"[^"]*"/,
    `$1${JSON.stringify(output)}`,
    "a generator with an output",
  )
}

/** Changes when the clients have to be generated again. */
export function clientsStamp() {
  const prismaPackage = readFileSync(join(prismaFolder, "..", "node_modules", "prisma", "package.json"), "utf8")
  return createHash("sha256")
    .update(readFileSync(schemaFile))
    .update(readFileSync(join(prismaFolder, "generate.mjs")))
    .update(JSON.parse(prismaPackage).version)
    .digest("hex")
}

function replaceOnce(text, pattern, replacement, what) {
  if (!pattern.test(text)) throw new Error(`prisma/schema.prisma: expected ${what}`)
  return text.replace(pattern, replacement)
}
