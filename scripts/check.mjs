// npm run check: types, lint, unit and architecture tests; the loop for every change.
import { requireSupportedNode } from "./lib/project.mjs"
import { createSteps } from "./lib/steps.mjs"
import { CHECKS } from "./lib/test/parts.mjs"
import { runParts } from "./lib/test/run-parts.mjs"

requireSupportedNode()
process.exit(await runParts(CHECKS, { extra: [], steps: createSteps() }))
