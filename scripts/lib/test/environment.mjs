// Everything tests, benches and torture need around them: a build, services, the build for tests, a prepared database.
import { prepare } from "../prepare.mjs"
import { obtainServices } from "../services/obtain.mjs"
import { prepareTestBuild } from "../test-build.mjs"
import { makeTemplate } from "./template.mjs"

/**
 * Gives the variables to run them with, and how to stop what was started. Whoever was started by a run that has all of this
 * already (its REWAKE_TEST_TEMPLATE says so) gets nothing anew.
 */
export async function obtainTestEnvironment(needs, steps) {
  if (process.env.REWAKE_TEST_TEMPLATE) return { env: {}, stop: async () => {} }
  await prepare(steps)
  const services = await obtainServices(needs, steps)
  try {
    const template = await steps.run("test build", async () => {
      await prepareTestBuild()
      return makeTemplate({ ...process.env, ...services.env })
    })
    return {
      env: { ...services.env, ...template.env },
      stop: async () => {
        await template.remove()
        await services.stop()
      },
    }
  } catch (error) {
    await services.stop()
    throw error
  }
}
