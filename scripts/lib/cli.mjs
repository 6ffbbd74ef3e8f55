import { spawnSync } from "node:child_process"
import { prepare } from "./prepare.mjs"
import { inProject, requireSupportedNode, root } from "./project.mjs"
import { createSteps } from "./steps.mjs"

/** Runs a command of the server, built first where needed; only the command's own answer goes to stdout. */
export async function runCli(command) {
  requireSupportedNode()
  const steps = createSteps(process.stderr)
  try {
    await prepare(steps)
  } catch (error) {
    steps.fail(error)
    process.exit(1)
  }
  runBuiltCli(command)
}

export function runBuiltCli(command) {
  const { status } = spawnSync(process.execPath, [inProject("dist", "cli.mjs"), command, ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, NODE_ENV: "production" },
  })
  process.exit(status ?? 1)
}
