import type { Runtime } from "../../lib/contracts/task"
import { type Executor, LaunchFailed } from "./executor"

export type Executors = Record<Runtime, Executor>

/** A runtime this server is not set up for. It refuses to start anything, and never claims to know what it cannot see. */
export const notConfigured = (runtime: Runtime): Executor => {
  const why = `The ${runtime} runtime is not set up on this server.`
  return {
    place_id: null,
    isHere: () => true,
    launch: async () => {
      throw new LaunchFailed("runtime_unavailable", why)
    },
    reconnect: async () => null,
    probe: async () => ({ kind: "unknown", why }),
    stop: async () => {},
  }
}
