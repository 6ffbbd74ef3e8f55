import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, test } from "@playwright/test"
import type { Rewake } from "../support/server"
import { openTask, sessionIdIn } from "./pages"
import { useSharedServer } from "./use-server"

let rewake: Rewake
useSharedServer((started) => {
  rewake = started
})

let foreign: Server
let address = ""
test.beforeAll(async () => {
  foreign = createServer((_request, response) => response.setHeader("content-type", "text/html").end("<title>Another page</title>"))
  await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve))
  address = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`
})
test.afterAll(() => foreign.close())

test("a page of another port of this host, in a browser that is signed in here, gets no socket and no answer", async ({ page }) => {
  const sessionId = sessionIdIn(await openTask(page, rewake, "remember secret"))
  await rewake.waitForRuns(sessionId, 1)
  await page.goto(address)
  // What really goes over the wire: a page is not told the status of what it may not read.
  const wire = await page.context().newCDPSession(page)
  await wire.send("Network.enable")
  const sent = new Map<string, { host: string; cookie: boolean }>()
  const answered = new Map<string, number>()
  wire.on("Network.requestWillBeSentExtraInfo", ({ requestId, headers }) => {
    const header = (name: string) => Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] ?? ""
    sent.set(requestId, { host: header("host"), cookie: /next-auth\.session-token/.test(header("cookie")) })
  })
  wire.on("Network.responseReceivedExtraInfo", ({ requestId, statusCode }) => answered.set(requestId, statusCode))

  const outcome = await page.evaluate(async (url) => {
    const script = (query: string) =>
      new Promise<string>((resolve) => {
        const heard: unknown[] = []
        Object.assign(window, { ___eio: [(packet: unknown) => heard.push(packet)] })
        const tag = document.createElement("script")
        tag.onload = () => resolve(heard.length > 0 ? "heard" : "silent")
        tag.onerror = () => resolve("refused")
        tag.src = `${url}/socket.io/?EIO=4&transport=polling${query}`
        document.body.append(tag)
      })
    const socket = () =>
      new Promise<string>((resolve) => {
        const opened = new WebSocket(`${url.replace("http", "ws")}/socket.io/?EIO=4&transport=websocket`)
        opened.onopen = () => resolve("open")
        opened.onerror = () => resolve("refused")
      })
    const post = () =>
      fetch(`${url}/api/v1/tasks`, { method: "POST", mode: "no-cors", credentials: "include", body: JSON.stringify({ message: "x" }) })
    const read = () =>
      fetch(`${url}/api/v1/tasks`, { credentials: "include" }).then(
        () => "read",
        () => "refused",
      )
    const answers = { jsonp: await script("&j=0"), polling: await script(""), socket: await socket(), read: await read() }
    await post()
    return answers
  }, rewake.url)

  expect(outcome).toEqual({ jsonp: "refused", polling: "refused", socket: "refused", read: "refused" })
  // The browser also asks the other page's own server, for its icon; of a socket's upgrade it tells only that it failed.
  const toUs = () => [...sent].filter(([, { host }]) => host === new URL(rewake.url).host)
  await expect.poll(() => toUs().map(([id]) => answered.get(id))).toEqual([403, 403, 403, 403])
  expect(toUs().map(([, { cookie }]) => cookie)).toEqual([true, true, true, true])
  expect((await rewake.api<{ items: unknown[] }>("GET", "/api/v1/tasks")).body.items).toHaveLength(1)
})
