// npm run torture [-- --seed S --runs N --length L --keep]: kills everything at the worst moments, then checks what was promised.
import { inProject, requireSupportedNode } from "./lib/project.mjs"
import { runInForeground } from "./lib/serve.mjs"
import { createSteps } from "./lib/steps.mjs"
import { obtainTestEnvironment } from "./lib/test/environment.mjs"

requireSupportedNode()
const steps = createSteps(process.stderr)
let environment = { env: {}, stop: async () => {} }
try {
  environment = await obtainTestEnvironment(["postgres", "git"], steps)
  const { esbuild, toolBundle } = await import("./lib/bundles.mjs")
  await esbuild.build(toolBundle("tests/torture/main.ts", inProject("dist-test", "torture.mjs")))
} catch (error) {
  steps.fail(error)
  await environment.stop()
  process.exit(1)
}
runInForeground(
  process.execPath,
  ["--enable-source-maps", inProject("dist-test", "torture.mjs"), ...process.argv.slice(2)],
  { ...process.env, ...environment.env, NODE_ENV: "production" },
  environment.stop,
)
