import http from "node:http"
import type { Socket } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import { expect, test } from "vitest"
import { Rewake } from "../support/server"

/** Twice what Node would keep an idle connection for by itself. */
const IDLE_MS = 10_000

test("a request on a connection that was idle for ten seconds is answered", async () => {
  const rewake = await Rewake.start()
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const sockets = new Set<Socket>()
  const ask = () =>
    new Promise<number>((resolve, reject) => {
      const request = http.get(`${rewake.url}/api/health`, { agent }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0))
      })
      request.on("socket", (socket) => sockets.add(socket)).on("error", reject)
    })
  try {
    expect(await ask()).toBe(200)
    await delay(IDLE_MS)
    expect(await ask()).toBe(200)
    expect(sockets.size).toBe(1)
  } finally {
    agent.destroy()
    await rewake.stop()
  }
})
