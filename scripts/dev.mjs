// npm run dev: pages reload by themselves (Next's own watcher), the server restarts when its sources change.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { prepare } from "./lib/prepare.mjs"
import { inProject, requireSupportedNode, root } from "./lib/project.mjs"
import { createSteps } from "./lib/steps.mjs"

requireSupportedNode()
const steps = createSteps()
let server = null
let stopping = false

try {
  await prepare(steps, { upTo: "generate" })
  await watch()
} catch (error) {
  steps.fail(error)
  process.exit(1)
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, async () => {
    if (stopping) return
    stopping = true
    await endServer(signal)
    process.exit(0)
  })
}

async function watch() {
  // Packages may have been installed a moment ago, so this cannot be imported at the top.
  const { buildPrograms, esbuild, programBundles, serverBundles } = await import("./lib/bundles.mjs")
  const programs = inProject("dist", "programs")
  await steps.run("bundle", () => buildPrograms(programs))
  const restart = latestOnly(restartServer)
  const onEnd = (name) => ({
    name,
    setup: (build) =>
      build.onEnd(({ errors }) => {
        if (errors.length === 0) restart()
      }),
  })
  const contexts = [
    await esbuild.context({ ...programBundles(programs), plugins: [onEnd("programs")] }),
    await esbuild.context({ ...serverBundles(inProject("dist"), null), plugins: [onEnd("server")] }),
  ]
  for (const context of contexts) await context.watch()
}

async function restartServer() {
  await endServer("SIGTERM")
  if (stopping) return
  // Named after the programs, so that a change to agentctl is run from a fresh copy.
  writeFileSync(inProject("dist", "build.json"), `${JSON.stringify({ build: `dev-${programsHash()}` })}\n`)
  server = spawn(process.execPath, ["--enable-source-maps", inProject("dist", "server.mjs")], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, NODE_ENV: "development", REWAKE_DEV: "1" },
    // Ctrl-C reaches the server once, through this process.
    detached: true,
  })
  server.on("exit", (code) => {
    if (code !== 0 && code !== null) steps.say("server", `ended with code ${code}; it starts again with the next change`)
  })
}

async function endServer(signal) {
  if (server === null || server.exitCode !== null || server.signalCode !== null) return
  const ended = new Promise((resolve) => server.once("exit", resolve))
  server.kill(signal)
  const late = setTimeout(() => server.kill("SIGKILL"), 10_000)
  await ended
  clearTimeout(late)
}

function programsHash() {
  const hash = createHash("sha256")
  const folder = inProject("dist", "programs")
  for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(join(folder, name)))
  return hash.digest("hex").slice(0, 12)
}

/** Several changes at once make one restart; one that comes during a restart makes one more. */
function latestOnly(work) {
  let timer = null
  let running = Promise.resolve()
  return () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      running = running.then(work).catch((error) => steps.fail(error))
    }, 50)
  }
}
