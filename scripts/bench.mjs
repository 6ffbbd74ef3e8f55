// npm run bench [-- ARGUMENTS]: measures the built product; the programme is tests/bench/main.ts.
import { existsSync } from "node:fs"
import { inProject, requireSupportedNode } from "./lib/project.mjs"
import { runInForeground } from "./lib/serve.mjs"
import { createSteps } from "./lib/steps.mjs"
import { installedAgents, whereAgentsAre } from "./lib/test/agents.mjs"
import { obtainTestEnvironment } from "./lib/test/environment.mjs"

requireSupportedNode()
const steps = createSteps(process.stderr)
let environment = { env: {}, stop: async () => {} }
try {
  if (!existsSync(inProject("tests", "bench", "main.ts"))) throw new Error("tests/bench/main.ts does not exist.")
  environment = await obtainTestEnvironment(["git"], steps)
  const { esbuild, toolBundle } = await import("./lib/bundles.mjs")
  await esbuild.build(toolBundle("tests/bench/main.ts", inProject("dist", "bench.mjs")))
} catch (error) {
  steps.fail(error)
  await environment.stop()
  process.exit(1)
}
runInForeground(
  process.execPath,
  ["--enable-source-maps", inProject("dist", "bench.mjs"), ...process.argv.slice(2)],
  { ...process.env, ...environment.env, ...whereAgentsAre(installedAgents()), NODE_ENV: "production" },
  environment.stop,
)
