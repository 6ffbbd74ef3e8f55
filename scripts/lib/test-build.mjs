// dist-test/: the same sources with two modules replaced, for tests that kill at a given point or wait for a shorter time.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { hashFiles } from "./hash.mjs"
import { inProject } from "./project.mjs"

/** It must be in the checkout, as dist/ is: pages, migrations and packages are found from there. */
const TEST_DIST = "dist-test"
const MADE_FROM = ["server", "lib", "tests/replacements", "scripts/lib/bundles.mjs"]

/** Made again only when its sources have changed. The pages are those of the finished build in dist/. */
export async function prepareTestBuild() {
  const { build } = JSON.parse(readFileSync(inProject("dist", "build.json"), "utf8"))
  const target = inProject(TEST_DIST)
  const stamp = hashFiles(MADE_FROM, [build, process.versions.modules])
  const made = inProject(TEST_DIST, "made-from")
  if (existsSync(made) && readFileSync(made, "utf8") === stamp) return
  const { buildForTests } = await import("./bundles.mjs")
  const fresh = `${target}.${process.pid}`
  const old = `${fresh}.old`
  mkdirSync(fresh, { recursive: true })
  await buildForTests(fresh, build)
  writeFileSync(inProject(`${TEST_DIST}.${process.pid}`, "build.json"), `${JSON.stringify({ build })}\n`)
  writeFileSync(inProject(`${TEST_DIST}.${process.pid}`, "made-from"), stamp)
  if (existsSync(target)) renameSync(target, old)
  renameSync(fresh, target)
  rmSync(old, { recursive: true, force: true })
}
