// npm run test:agents [-- arguments of the runner]: real agents against a scripted model, killed and brought back.
import { requireSupportedNode } from "./lib/project.mjs"
import { createSteps } from "./lib/steps.mjs"
import { obtainAgents } from "./lib/test/agents.mjs"
import { AGENTS_PART } from "./lib/test/parts.mjs"
import { runParts } from "./lib/test/run-parts.mjs"

requireSupportedNode()
const steps = createSteps()
process.exit(await runParts([AGENTS_PART], { extra: process.argv.slice(2), steps, obtainMore: () => obtainAgents(steps) }))
