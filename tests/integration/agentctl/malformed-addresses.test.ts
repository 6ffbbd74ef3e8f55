import { connect } from "node:net"
import { expect, test } from "vitest"
import { useDaemon } from "../../support/use-daemon"

const daemon = useDaemon({ per: "file" })

/** The status of the answer to a request line exactly as it is given. */
function statusOf(line: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = ""
    const { port } = new URL(daemon.file.endpoint)
    const socket = connect(Number(port), "127.0.0.1", () => {
      socket.write(`${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${daemon.file.secret}\r\nConnection: close\r\n\r\n`)
    })
    socket.on("data", (bytes) => {
      said += bytes
    })
    socket.on("error", reject)
    socket.on("close", () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(said)?.[1])))
  })
}

test.each([
  ["GET //", 404],
  ["GET ///", 404],
  ["GET //sessions/sess_1", 404],
  ["GET //[", 404],
  ["GET /%zz", 404],
  ["GET /sessions/%00", 400],
  ["GET /sessions/%E0%A4%A", 400],
  ["GET http://elsewhere/health", 404],
  ["GET http://[", 404],
  ["GET nothing", 400],
  ["OPTIONS *", 404],
])("%s is answered at once with %i", async (line, status) => {
  expect(await statusOf(line)).toBe(status)
})

test("the daemon goes on answering afterwards", async () => {
  expect((await daemon.call("GET", "/health")).status).toBe(200)
})
