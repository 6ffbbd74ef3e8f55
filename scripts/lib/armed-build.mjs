// The build that is tortured: dist-torture/, the same sources with kill points that kill.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { hashFiles } from "./hash.mjs"
import { inProject } from "./project.mjs"

/** It must lie in the checkout, as dist/ does: pages, migrations and packages are found from there. */
export const ARMED_DIST = "dist-torture"
const MADE_FROM = ["server", "lib", "tests/torture/armed-kill-point.ts", "scripts/lib/bundles.mjs"]

/** Made again only when its sources have changed. The pages are those of the finished build in dist/. */
export async function prepareArmedBuild() {
  const { build } = JSON.parse(readFileSync(inProject("dist", "build.json"), "utf8"))
  const target = inProject(ARMED_DIST)
  const stamp = hashFiles(MADE_FROM, [build, process.versions.modules])
  const made = inProject(ARMED_DIST, "made-from")
  if (existsSync(made) && readFileSync(made, "utf8") === stamp) return
  const { buildArmed } = await import("./bundles.mjs")
  const fresh = `${target}.${process.pid}`
  const old = `${fresh}.old`
  mkdirSync(fresh, { recursive: true })
  await buildArmed(fresh, build)
  writeFileSync(inProject(`${ARMED_DIST}.${process.pid}`, "build.json"), `${JSON.stringify({ build })}\n`)
  writeFileSync(inProject(`${ARMED_DIST}.${process.pid}`, "made-from"), stamp)
  if (existsSync(target)) renameSync(target, old)
  renameSync(fresh, target)
  rmSync(old, { recursive: true, force: true })
}
