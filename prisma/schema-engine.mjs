// Prisma's schema engine as WebAssembly, answering "what SQL leads from this schema to that one" with no database.
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { bindMigrationAwareSqlAdapterFactory, mockMigrationAwareAdapterFactory } from "@prisma/driver-adapter-utils"
import { forProvider } from "./schema-variants.mjs"

/** The SQL from one schema text (null: an empty database) to another, "" when nothing changes. */
export async function migrationSql(provider, from, to) {
  const { SchemaEngine } = await loadEngine()
  const datamodel = (schema) => ({ tag: "schemaDatamodel", files: [{ path: "schema.prisma", content: forProvider(schema, provider) }] })
  const target = datamodel(to)
  const engine = await SchemaEngine.new(
    { datamodels: [["schema.prisma", target.files[0].content]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(provider === "sqlite" ? mockMigrationAwareAdapterFactory("sqlite") : postgresWithoutServer()),
  )
  try {
    const answer = await engine.diff({
      from: from === null ? { tag: "empty" } : datamodel(from),
      to: target,
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    })
    const sql = answer.stdout.trim()
    return /^-- This is an empty migration\.?$/.test(sql) ? "" : sql
  } finally {
    engine.free()
  }
}

let loading
function loadEngine() {
  loading ??= instantiate()
  return loading
}

async function instantiate() {
  const folder = dirname(createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm"))
  const glue = await import(pathToFileURL(join(folder, "schema_engine_bg.js")).href)
  const binary = readFileSync(join(folder, "schema_engine_bg.wasm"))
  const { instance } = await WebAssembly.instantiate(binary, { "./schema_engine_bg.js": glue })
  glue.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  return glue
}

/** On connecting, the engine asks a PostgreSQL server for its version and schema; the answers decide the dialect. */
function postgresWithoutServer() {
  const factory = mockMigrationAwareAdapterFactory("postgres")
  const connect = factory.connect.bind(factory)
  factory.connect = async () => {
    const adapter = await connect()
    adapter.queryRaw = async () => ({
      columnNames: ["exists", "version", "numeric_version"],
      columnTypes: [5, 7, 0],
      rows: [[true, "PostgreSQL 15.0", 150000]],
    })
    adapter.executeRaw = async () => 0
    adapter.executeScript = async () => {}
    adapter.getConnectionInfo = () => ({ schemaName: "public", supportsRelationJoins: true })
    return adapter
  }
  return factory
}
