// npm start: installs, generates and builds what is missing or out of date, then serves in the foreground.
// The server is a child with this process's standard streams; it applies migrations itself. `npm stop` ends it from elsewhere.
import { prepare } from "./lib/prepare.mjs"
import { inProject, requireSupportedNode } from "./lib/project.mjs"
import { runInForeground } from "./lib/serve.mjs"
import { createSteps } from "./lib/steps.mjs"

requireSupportedNode()
const steps = createSteps()
try {
  await prepare(steps)
} catch (error) {
  steps.fail(error)
  process.exit(1)
}
// Without source maps: Node would read and measure those of every package at each start, for traces that name functions and files anyway.
runInForeground(process.execPath, [inProject("dist", "server.mjs")], { ...process.env, NODE_ENV: "production" })
