import { createServer } from "node:net"

/**
 * Below the range from which the system takes ports for outgoing connections: a port must be free again after each kill. Above 10080,
 * which browsers and fetch refuse.
 */
const FIRST_PORT = 10_100
const PORTS_PER_WORKER = 2_000
const WORKERS = 8

/** Test files that run side by side never try the same port. */
const worker = Number(process.env.VITEST_POOL_ID ?? process.env.TEST_PARALLEL_INDEX ?? 0) % WORKERS
let next = Math.floor(Math.random() * PORTS_PER_WORKER)

export async function freePort(): Promise<number> {
  for (;;) {
    next = (next + 1) % PORTS_PER_WORKER
    const port = FIRST_PORT + worker * PORTS_PER_WORKER + next
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer()
      probe.once("error", () => resolve(false))
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)))
    })
    if (free) return port
  }
}
