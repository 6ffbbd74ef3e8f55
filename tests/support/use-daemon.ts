import { rmSync } from "node:fs"
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest"
import { Daemon, newDataDir } from "./daemon"
import { standIn } from "./use-server"

type Options = {
  /** One for each test, or one for all tests of the file. */
  per?: "test" | "file"
  /** `stop` also ends what runs in its terminals. */
  end?: "kill" | "stop"
  /** Further arguments of agentctl. */
  args?: string[]
}

/** A daemon in a folder of its own; whatever it caught only at its outermost handler fails the test. */
export function useDaemon({ per = "test", end = "kill", args = [] }: Options = {}): Daemon {
  let daemon: Daemon | null = null
  const before = per === "test" ? beforeEach : beforeAll
  const after = per === "test" ? afterEach : afterAll
  before(async () => {
    daemon = await Daemon.start(newDataDir(), args)
  })
  after(async () => {
    if (!daemon) return
    await daemon[end]()
    expect(daemon.mistakes()).toEqual([])
    rmSync(daemon.dataDir, { recursive: true, force: true })
  })
  return standIn(() => daemon)
}
