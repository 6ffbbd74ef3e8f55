// What has to be true before anything of ours can run: packages installed, database clients generated, everything built.
// Each is done again only when what it is made from has changed.
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { clientsStamp } from "../../prisma/schema-variants.mjs"
import { hashFiles } from "./hash.mjs"
import { withLock } from "./lock.mjs"
import { inProject } from "./project.mjs"
import { endStepsOnSignal, runQuietly, StepFailed } from "./steps.mjs"

const BUILT_FROM = [
  "app",
  "components",
  "lib",
  "public",
  "server",
  "next.config.mjs",
  "postcss.config.mjs",
  "proxy.ts",
  "instrumentation.ts",
  "tsconfig.json",
  "package-lock.json",
  "prisma/schema.prisma",
  "prisma/generate.mjs",
  "scripts/build.mjs",
  "scripts/lib/bundles.mjs",
  "scripts/tsconfig.next.json",
]
/** A server may still run from an earlier build and read its pages; older ones than these are removed. */
const KEPT_BUILDS = 3

/** Makes the checkout ready; `upTo` names the last step wanted. */
export async function prepare(steps, { upTo = "build" } = {}) {
  const onWait = (pid) => steps.say("waiting", `for another install or build (process ${pid})`)
  const keepGoing = endStepsOnSignal()
  await withLock(onWait, async (onSpawn) => {
    await install(steps, onSpawn)
    await generate(steps, onSpawn)
    if (upTo === "build") await build(steps, onSpawn)
  })
  keepGoing()
}

async function install(steps, onSpawn) {
  const stampFile = inProject("node_modules", ".rewake-install")
  const stamp = hashFiles(["package-lock.json"], [process.version, process.versions.modules, process.platform, process.arch])
  if (readIfThere(stampFile) === stamp) return steps.upToDate("install")
  steps.say("install", "npm ci, a few minutes the first time")
  await steps.run("install", async () => {
    try {
      await npm(["ci", "--include=dev", "--no-audit", "--no-fund", "--no-json", "--loglevel=error"], onSpawn)
    } catch (error) {
      throw withToolchainHint(error)
    }
    writeFileSync(stampFile, stamp)
  })
}

async function generate(steps, onSpawn) {
  if (readIfThere(inProject("prisma", "generated", "stamp")) === clientsStamp()) return steps.upToDate("generate")
  await steps.run("generate", () => runQuietly(process.execPath, [inProject("prisma", "generate.mjs")], { onSpawn }))
}

async function build(steps, onSpawn) {
  const id = buildId()
  if (isBuilt(id)) return steps.upToDate("build")
  await steps.run("build", () => runQuietly(process.execPath, [inProject("scripts", "build.mjs"), id], { onSpawn }))
  removeOldBuilds()
}

/** The same sources give the same id on every machine with the same Node ABI. */
export function buildId() {
  return hashFiles(BUILT_FROM, [process.versions.modules, process.platform, process.arch]).slice(0, 12)
}

function isBuilt(id) {
  const text = readIfThere(inProject("dist", "build.json"))
  return text !== null && JSON.parse(text).build === id && existsSync(inProject(".next", id, "BUILD_ID"))
}

function removeOldBuilds() {
  const folder = inProject(".next")
  const builds = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory() && /^[0-9a-f]{12}$/.test(entry.name))
  const newestFirst = builds
    .map(({ name }) => ({ name, builtAt: Number(readIfThere(join(folder, name, "built-at")) ?? 0) }))
    .sort((a, b) => b.builtAt - a.builtAt)
  for (const { name } of newestFirst.slice(KEPT_BUILDS)) rmSync(join(folder, name), { recursive: true, force: true })
}

function npm(args, onSpawn) {
  const env = { ...process.env }
  const headers = nodeHeadersPrefix()
  if (headers !== null) env.npm_config_nodedir ??= headers
  // A production environment would leave out what the build needs.
  env.NODE_ENV = "development"
  const cli = process.env.npm_execpath
  return cli?.endsWith(".js") ? runQuietly(process.execPath, [cli, ...args], { env, onSpawn }) : runQuietly("npm", args, { env, onSpawn })
}

/** Native modules compile against headers installed next to this Node, where a download may be impossible. */
function nodeHeadersPrefix() {
  const prefix = dirname(dirname(realpathSync(process.execPath)))
  const header = readIfThere(join(prefix, "include", "node", "node_version.h"))
  if (header === null) return null
  const part = (name) => header.match(new RegExp(`#define NODE_${name}_VERSION (\\d+)`))?.[1]
  const version = ["MAJOR", "MINOR", "PATCH"].map(part).join(".")
  return version === process.versions.node ? prefix : null
}

function withToolchainHint(error) {
  if (!(error instanceof StepFailed) || !/node-gyp|gyp ERR/.test(error.output ?? "")) return error
  return new StepFailed(
    `${error.message}\n\nA native module did not compile. It needs python3, make and g++:\n  apt-get install -y python3 make g++    (Debian, Ubuntu)`,
  )
}

function readIfThere(file) {
  try {
    return readFileSync(file, "utf8")
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null
    throw error
  }
}
