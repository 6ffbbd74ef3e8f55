// node scripts/build.mjs [BUILD]: makes dist/ and .next/BUILD. Neither is ever seen half made, and a running server keeps its own.
import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildPrograms, esbuild, serverBundles } from "./lib/bundles.mjs"
import { buildId } from "./lib/prepare.mjs"
import { inProject, root } from "./lib/project.mjs"

const build = process.argv[2] ?? buildId()
const work = inProject(".cache", `build-${process.pid}`)
const fresh = join(work, "dist")
removeAbandonedWork()
mkdirSync(fresh, { recursive: true })
try {
  await buildBundles()
  buildPages()
  writeFileSync(join(fresh, "build.json"), `${JSON.stringify({ build })}\n`)
  replaceDist()
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Builds run one at a time; what an ended one left behind is of no use. */
function removeAbandonedWork() {
  mkdirSync(inProject(".cache"), { recursive: true })
  for (const name of readdirSync(inProject(".cache"))) {
    if (name.startsWith("build-")) rmSync(inProject(".cache", name), { recursive: true, force: true })
  }
}

async function buildBundles() {
  try {
    await esbuild.build(serverBundles(fresh, build))
    await buildPrograms(join(fresh, "programs"))
  } catch (error) {
    // What is wrong with the sources has been printed already.
    if (error.errors === undefined) throw error
    giveUp()
  }
}

function buildPages() {
  const folder = inProject(".next", build)
  rmSync(folder, { recursive: true, force: true })
  const { status } = spawnSync(process.execPath, [inProject("node_modules", "next", "dist", "bin", "next"), "build"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, NODE_ENV: "production", REWAKE_NEXT_DIR: `.next/${build}` },
  })
  if (status !== 0) {
    rmSync(folder, { recursive: true, force: true })
    giveUp()
  }
  writeFileSync(join(folder, "built-at"), String(Date.now()))
}

function replaceDist() {
  try {
    renameSync(inProject("dist"), join(work, "previous"))
  } catch (error) {
    if (error.code !== "ENOENT") throw error
  }
  renameSync(fresh, inProject("dist"))
}

function giveUp() {
  rmSync(work, { recursive: true, force: true })
  process.exit(1)
}
