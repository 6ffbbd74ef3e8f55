import { afterAll, afterEach } from "vitest"
import { Rewake, type StartOptions } from "./server"

/**
 * Gives each test of a file a server with the options it asks for. A test that asks for the same options as an earlier one gets
 * that one's server, emptied: a start costs more CPU time than most of what the test then does.
 */
export function useServers(): (options?: StartOptions) => Promise<Rewake> {
  const idle: { options: string; rewake: Rewake }[] = []
  const used: typeof idle = []
  afterEach(async ({ task }) => {
    for (const one of used.splice(0)) {
      if (task.result?.state === "fail") {
        await one.rewake.stop()
        continue
      }
      try {
        await one.rewake.empty()
      } catch (error) {
        await one.rewake.stop()
        throw error
      }
      idle.push(one)
    }
  })
  afterAll(async () => {
    for (const { rewake } of idle) await rewake.stop()
  })
  return async (options = {}) => {
    const wanted = JSON.stringify(options)
    const at = idle.findIndex((one) => one.options === wanted)
    const one = at === -1 ? { options: wanted, rewake: await Rewake.start(options) } : (idle.splice(at, 1)[0] as (typeof idle)[number])
    used.push(one)
    return one.rewake
  }
}
