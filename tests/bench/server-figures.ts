import { readFileSync } from "node:fs"
import { Rewake } from "../support/server"
import type { Figure } from "./main"

const STARTS = 5

/** Start to ready with everything built, and what an idle server holds in memory. */
export async function measureServer(): Promise<Figure[]> {
  const rewake = await Rewake.start()
  try {
    const starts: number[] = []
    for (let i = 0; i < STARTS; i++) {
      await rewake.kill9()
      const started = performance.now()
      await rewake.boot()
      starts.push(performance.now() - started)
    }
    // The login page is what an idle server has typically served last.
    await fetch(`${rewake.url}/login`)
    const status = readFileSync(`/proc/${rewake.child?.pid}/status`, "utf8")
    const megabytes = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
    const middle = starts.sort((a, b) => a - b)[Math.floor(STARTS / 2)] as number
    return [
      { what: "start to ready, warm", ours: `${(middle / 1000).toFixed(2)} s`, baseline: "–", ratio: "–", aim: "< 1.5 s" },
      { what: "server memory, idle", ours: `${Math.round(megabytes)} MB`, baseline: "–", ratio: "–", aim: "< 200 MB" },
    ]
  } finally {
    await rewake.stop()
  }
}
