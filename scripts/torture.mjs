// npm run torture [-- --seed S --runs N --length L --keep]: kills everything at the worst moments, then checks what was promised.
import { prepareArmedBuild } from "./lib/armed-build.mjs"
import { prepare } from "./lib/prepare.mjs"
import { inProject, requireSupportedNode } from "./lib/project.mjs"
import { runInForeground } from "./lib/serve.mjs"
import { obtainServices } from "./lib/services/obtain.mjs"
import { createSteps } from "./lib/steps.mjs"

requireSupportedNode()
const steps = createSteps(process.stderr)
let services = { env: {}, stop: async () => {} }
try {
  await prepare(steps)
  await prepareArmedBuild()
  services = await obtainServices(["postgres", "git"], steps)
  const { esbuild, toolBundle } = await import("./lib/bundles.mjs")
  await esbuild.build(toolBundle("tests/torture/main.ts", inProject("dist-torture", "torture.mjs")))
} catch (error) {
  steps.fail(error)
  await services.stop()
  process.exit(1)
}
runInForeground(
  process.execPath,
  ["--enable-source-maps", inProject("dist-torture", "torture.mjs"), ...process.argv.slice(2)],
  { ...process.env, ...services.env, NODE_ENV: "production" },
  services.stop,
)
