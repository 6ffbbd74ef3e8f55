// The prepared database that every server of the tests, benches and torture starts from; made once per run.
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inProject, root } from "../project.mjs"
import { runQuietly } from "../steps.mjs"

/** Needs a finished build; with TEST_DATABASE_URL in `env`, the PostgreSQL template is made as well. */
export async function makeTemplate(env) {
  const { esbuild, toolBundle } = await import("../bundles.mjs")
  const folder = mkdtempSync(join(tmpdir(), "rewake-template-"))
  const program = inProject(".cache", `make-template-${process.pid}.mjs`)
  try {
    await esbuild.build(toolBundle("tests/support/make-template.ts", program))
    await runQuietly(process.execPath, [program, folder, root], { env })
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  } finally {
    rmSync(program, { force: true })
    rmSync(`${program}.map`, { force: true })
  }
  const remove = async () => {
    const { postgresql } = JSON.parse(readFileSync(join(folder, "template.json"), "utf8"))
    if (postgresql !== null) await dropDatabase(env.TEST_DATABASE_URL, postgresql.name)
    rmSync(folder, { recursive: true, force: true })
  }
  return { env: { REWAKE_TEST_TEMPLATE: folder }, remove }
}

async function dropDatabase(url, name) {
  const { default: pg } = await import("pg")
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`)
  await client.end()
}
