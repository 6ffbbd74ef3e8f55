// What is bundled, and how. Imports esbuild: only for use once packages are installed.
import { existsSync } from "node:fs"
import { copyFile, mkdir } from "node:fs/promises"
import { join } from "node:path"
import * as esbuild from "esbuild"
import { inProject, root } from "./project.mjs"

const common = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: true,
  logLevel: "warning",
}

/**
 * Packages that stay outside the server's bundles: native modules, what loads files of its own at run time, and optional ones
 * that are not installed. All others are bundled: finding and loading their many files took a tenth of a start's CPU time.
 */
const LOADED_AT_RUN_TIME = [
  ...["next", "better-sqlite3", "@node-rs/argon2", "@prisma/client", "@prisma/adapter-better-sqlite3", "@prisma/adapter-pg"],
  ...["pino", "@aws-sdk/*", "pg-native", "bufferutil", "utf-8-validate"],
]
/** Bundled packages may still call `require` for modules of Node. */
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);'

/** The server's programs: they run in the checkout, next to node_modules. */
export function serverBundles(outdir, build) {
  return {
    ...common,
    entryPoints: {
      server: "./server/main.ts",
      "writer-thread": "./server/journal/writer-thread.ts",
      cli: "./server/cli.ts",
    },
    outdir,
    outExtension: { ".js": ".mjs" },
    external: LOADED_AT_RUN_TIME,
    // A server keeps the pages it was built with, also while a newer build is made next to it.
    banner: { js: `${REQUIRE}${build === null ? "" : `globalThis[Symbol.for("rewake.pages")] = ${JSON.stringify(`.next/${build}`)};`}` },
  }
}

/** Programs that run from a copy outside the checkout, so that no install or build pulls files from under them. */
export function programBundles(outdir) {
  return {
    ...common,
    entryPoints: {
      agentctl: "./server/agentctl/main.ts",
      "archive-worker": "./server/agentctl/archive/worker.ts",
      "demo-agent": "./server/agents/demo/main.ts",
    },
    outdir,
    outExtension: { ".js": ".mjs" },
    // Only reached when better-sqlite3 is opened without `nativeBinding`, which would look for it in node_modules.
    external: ["bindings"],
    banner: { js: REQUIRE },
  }
}

export async function buildPrograms(outdir, extra = {}) {
  await mkdir(outdir, { recursive: true })
  await esbuild.build({ ...programBundles(outdir), ...extra })
  const addon = "better_sqlite3.node"
  await copyFile(inProject("node_modules", "better-sqlite3", "build", "Release", addon), join(outdir, addon))
  await copyTerminalAddon(outdir)
}

/** Built on this machine, or shipped with the package; macOS starts its processes through a helper beside it. */
async function copyTerminalAddon(outdir) {
  const folders = [join("build", "Release"), join("prebuilds", `${process.platform}-${process.arch}`)]
  const found = folders
    .map((folder) => inProject("node_modules", "node-pty", folder))
    .find((folder) => existsSync(join(folder, "pty.node")))
  if (!found) throw new Error("node-pty has no addon for this machine; run npm install again.")
  for (const name of ["pty.node", "spawn-helper"]) {
    if (existsSync(join(found, name))) await copyFile(join(found, name), join(outdir, name))
  }
}

/** A single program of the checkout that is not part of the product. */
export function toolBundle(entryPoint, outfile) {
  return { ...common, entryPoints: [entryPoint], outfile, packages: "external" }
}

/** Modules of lib/host/ with another module in their place. For the build that tests run, never for one that is served. */
const REPLACED = /\/host\/(kill-point|durations)$/
const replacements = {
  plugins: [
    {
      name: "replacements for tests",
      setup: (build) =>
        build.onResolve({ filter: REPLACED }, ({ path, importer }) => {
          const replacement = inProject("tests", "replacements", `${path.match(REPLACED)[1]}.ts`)
          // A replacement may start from the module it replaces.
          return importer === replacement ? undefined : { path: replacement }
        }),
    },
  ],
}

/** Server, agentctl and demo agents with the tests' replacements, over the pages of the given build. */
export async function buildForTests(outdir, build) {
  await esbuild.build({ ...serverBundles(outdir, build), ...replacements })
  await buildPrograms(join(outdir, "programs"), replacements)
}

export { esbuild }
