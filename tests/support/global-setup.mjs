// `npm test` hands over ready services and a finished build; running vitest by itself gets them here.
import { createSteps } from "../../scripts/lib/steps.mjs"
import { obtainTestEnvironment } from "../../scripts/lib/test/environment.mjs"

export default async function setup() {
  const { env, stop } = await obtainTestEnvironment(["postgres", "git", "zstd", "s3"], createSteps(process.stderr))
  Object.assign(process.env, env)
  return stop
}
