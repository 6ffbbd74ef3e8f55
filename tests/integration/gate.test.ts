import { once } from "node:events"
import http from "node:http"
import { connect } from "node:net"
import { expect, test } from "vitest"
import { Browser } from "../support/browser"
import { ADMIN, Rewake } from "../support/server"
import { useServer } from "../support/use-server"

const rewake = useServer()
const polling = "/socket.io/?EIO=4&transport=polling"

async function signedIn(): Promise<Browser> {
  const browser = new Browser(rewake)
  expect(await browser.signIn(ADMIN.email, ADMIN.password)).toBeNull()
  return browser
}
/** node:http, since fetch sets Host and Sec-Fetch-Site itself. */
function ask(
  path: string,
  headers: Record<string, string>,
  method = "GET",
): Promise<{ status: number; text: string; headers: http.IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${rewake.url}${path}`, { method, headers }, (response) => {
      let text = ""
      response
        .on("data", (chunk) => (text += chunk))
        .on("end", () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
    })
    request.on("error", reject).end()
  })
}

test("a socket's id opens nothing to a page of another port: not to read, not to write, not to upgrade", async () => {
  const cookie = (await signedIn()).cookieHeader()
  const own = await ask(polling, { cookie, "sec-fetch-site": "same-origin" })
  expect(own.status).toBe(200)
  const { sid } = JSON.parse(own.text.slice(1)) as { sid: string }
  const foreign = { cookie, origin: "http://127.0.0.1:1" }
  for (const headers of [foreign, { cookie, "sec-fetch-site": "same-site" }, { cookie }]) {
    expect((await ask(`${polling}&sid=${sid}`, headers)).status).toBe(403)
    expect((await ask(`${polling}&sid=${sid}`, headers, "POST")).status).toBe(403)
  }
  expect((await ask(`${polling}&j=0`, { cookie, "sec-fetch-site": "same-origin" })).status).toBe(403)
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  }
  const refused = await ask(`/socket.io/?EIO=4&transport=websocket&sid=${sid}`, { ...foreign, ...upgrade })
  expect(refused.status).toBe(400)
})

test("every answer has its headers, the socket's too, and no API answer is stored", async () => {
  const browser = await signedIn()
  const headers = { cookie: browser.cookieHeader(), "sec-fetch-site": "same-origin" }
  for (const path of [polling, "/api/v1/me"]) {
    const answer = await ask(path, headers)
    expect(answer.headers["x-content-type-options"], path).toBe("nosniff")
    expect(answer.headers["content-security-policy"], path).toContain("default-src 'none'")
    expect(answer.headers["cache-control"], path).toBe("no-store")
  }
  expect((await ask("/api/v1/nothing", headers)).headers["x-content-type-options"]).toBe("nosniff")
  const page = String((await ask("/login", {})).headers["content-security-policy"])
  expect(/connect-src ([^;]*)/.exec(page)?.[1]?.split(" ")).toContain(rewake.url.replace("http", "ws"))
  expect(page).not.toMatch(/connect-src[^;]* wss?:( |;|$)/)
})

test("under another name the page says where the server is; health answers", async () => {
  const elsewhere = { host: "evil.example" }
  expect(await ask("/", elsewhere)).toMatchObject({ status: 421, text: expect.stringContaining(rewake.url) })
  expect((await ask("/api/v1/me", { ...elsewhere, authorization: `Bearer ${rewake.token}` })).status).toBe(421)
  expect((await ask(polling, elsewhere)).status).toBe(421)
  expect((await ask("/api/health", elsewhere)).status).toBe(200)
})

test("a sign-in of many bytes is refused before it is read", async () => {
  const sent = await new Promise<{ status: number; bytes: number }>((resolve, reject) => {
    const chunk = Buffer.alloc(64 * 1024, "x")
    let bytes = 0
    let answered = false
    const request = http.request(`${rewake.url}/api/auth/callback/credentials`, { method: "POST" }, (response) => {
      answered = true
      response.resume()
      resolve({ status: response.statusCode ?? 0, bytes })
    })
    request.on("error", (error) => (answered ? undefined : reject(error)))
    const more = (): void => {
      while (!answered && bytes < 256 * 1024 * 1024) {
        bytes += chunk.length
        if (!request.write(chunk)) return void request.once("drain", more)
      }
      request.end()
    }
    more()
  })
  expect(sent.status).toBe(413)
  expect(sent.bytes).toBeLessThan(64 * 1024 * 1024)
  expect((await rewake.api("GET", "/api/health")).status).toBe(200)
})

test("a set-up code of other letters is refused, not an error", async () => {
  const answer = await rewake.as("")("POST", "/api/v1/setup", {
    code: "ключ",
    email: "a@example.org",
    name: "A",
    password: "long enough to be one",
  })
  expect(answer).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } })
})

test("upgrades that nobody takes are closed, and do not keep the server from ending", async () => {
  const alone = await Rewake.start()
  try {
    const { port } = new URL(alone.url)
    const sockets = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = connect(Number(port), "127.0.0.1")
        socket.on("error", () => {})
        await once(socket, "connect")
        socket.write(`GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
        return socket
      }),
    )
    await Promise.all(sockets.map((socket) => (socket.closed ? null : once(socket.resume(), "close"))))
    // One that has said nothing yet, as a leaked one would.
    const silent = connect(Number(port), "127.0.0.1")
    silent.on("error", () => {})
    await once(silent, "connect")
    const ended = once(alone.child as NonNullable<typeof alone.child>, "exit")
    alone.child?.kill("SIGTERM")
    expect((await ended)[0]).toBe(0)
  } finally {
    await alone.stop()
  }
})
