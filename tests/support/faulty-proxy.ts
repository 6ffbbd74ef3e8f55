import http from "node:http"
import type { AddressInfo } from "node:net"

type Fault =
  /** The store has done it; the caller never hears. */
  | { kind: "swallow_answer" }
  /** So many bytes of the answer arrive; then the line is dead, and is cut when `until` settles. */
  | { kind: "cut_answer"; after: number; until: Promise<unknown> }
  /** The request reaches the store only after `until`. */
  | { kind: "hold_request"; until: () => Promise<unknown> }
  /** The body arrives changed. */
  | { kind: "spoil_request" }

/** A proxy in front of a real store that does one harm, once, to the first request that fits. */
export class FaultyProxy {
  readonly seen: string[] = []
  readonly ranges: string[] = []
  /** While set, the store cannot be reached at all. */
  away = false
  private faults: { fits(request: string): boolean; fault: Fault }[] = []
  private constructor(
    private readonly server: http.Server,
    readonly endpoint: string,
  ) {}

  static async start(target: string): Promise<FaultyProxy> {
    const server = http.createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const proxy = new FaultyProxy(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    server.on("request", (request, response) => void proxy.pass(new URL(target), request, response))
    return proxy
  }

  once(fits: (request: string) => boolean, fault: Fault): void {
    this.faults.push({ fits, fault })
  }

  stop(): void {
    this.server.close()
    this.server.closeAllConnections()
  }

  private async pass(target: URL, request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    if (this.away) return void request.destroy()
    const name = `${request.method} ${request.url}`
    this.seen.push(name)
    if (request.headers.range) this.ranges.push(request.headers.range)
    const at = this.faults.findIndex(({ fits }) => fits(name))
    const fault = at === -1 ? null : (this.faults.splice(at, 1)[0]?.fault ?? null)
    if (fault?.kind === "hold_request") await fault.until()
    const { hostname, port } = target
    const onward = http.request({ hostname, port, method: request.method, path: request.url, headers: request.headers, agent: false })
    onward.on("error", () => response.destroy())
    onward.on("response", async (answer) => {
      if (fault?.kind === "swallow_answer") {
        answer.resume()
        answer.on("end", () => response.destroy())
        return
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      if (fault?.kind !== "cut_answer") return void answer.pipe(response)
      let sent = 0
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        response.write(chunk.subarray(0, fault.after - sent))
        sent += chunk.length
        if (sent >= fault.after) break
      }
      await fault.until
      response.destroy()
    })
    if (fault?.kind !== "spoil_request") return void request.pipe(onward)
    for await (const chunk of request as AsyncIterable<Buffer>) onward.write(Buffer.alloc(chunk.length, 1))
    onward.end()
  }
}
