// npm test: everything that has to hold, from a bare checkout. `npm test -- PART [arguments]` runs one part of it.
import { requireSupportedNode } from "./lib/project.mjs"
import { createSteps } from "./lib/steps.mjs"
import { selectParts } from "./lib/test/parts.mjs"
import { runParts } from "./lib/test/run-parts.mjs"

requireSupportedNode()
const { parts, extra } = readArguments()
process.exit(await runParts(parts, { extra, steps: createSteps() }))

function readArguments() {
  try {
    return selectParts(process.argv.slice(2))
  } catch (error) {
    console.error(error.message)
    process.exit(2)
  }
}
