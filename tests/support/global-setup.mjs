// `npm test` hands over ready services and a finished build; running vitest by itself gets them here.
import { prepare } from "../../scripts/lib/prepare.mjs"
import { obtainServices } from "../../scripts/lib/services/obtain.mjs"
import { createSteps } from "../../scripts/lib/steps.mjs"

export default async function setup() {
  if (process.env.REWAKE_TEST_RUN) return
  const steps = createSteps(process.stderr)
  await prepare(steps)
  const services = await obtainServices(["postgres", "git", "zstd", "s3"], steps)
  Object.assign(process.env, services.env)
  return services.stop
}
