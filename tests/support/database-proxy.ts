import { createServer, connect as dial, type Server, type Socket } from "node:net"

/** A way to a database that can be closed and opened again: connections are cut and refused, or go silent, as in an outage. */
export class DatabaseProxy {
  private readonly pairs = new Set<{ client: Socket; upstream: Socket }>()
  private silent = false
  private closing: Promise<void> | null = null
  private constructor(
    private server: Server,
    private readonly target: { host: string; port: number },
    readonly port: number,
  ) {}

  /** `url` names the database; the answer's `url` leads to it through the proxy. */
  static async start(url: string): Promise<{ proxy: DatabaseProxy; url: string }> {
    const { hostname, port } = new URL(url)
    const target = { host: hostname, port: Number(port || 5432) }
    const server = createServer()
    await listen(server, 0)
    const proxy = new DatabaseProxy(server, target, (server.address() as { port: number }).port)
    proxy.serve(server)
    const through = new URL(url)
    through.hostname = "127.0.0.1"
    through.port = String(proxy.port)
    return { proxy, url: through.href }
  }

  /** Every connection is cut and new ones are refused. */
  async close(): Promise<void> {
    this.closing ??= new Promise((resolve) => {
      this.server.close(() => resolve())
      this.cut()
    })
    await this.closing
  }

  async open(): Promise<void> {
    if (!this.closing) return
    await this.closing
    this.closing = null
    this.server = createServer()
    this.serve(this.server)
    await listen(this.server, this.port)
  }

  /** Connections stay open and carry nothing, as when a router drops packets. What was on its way is lost with them. */
  goSilent(): void {
    this.silent = true
    for (const { client, upstream } of this.pairs) {
      client.unpipe(upstream)
      upstream.unpipe(client)
      client.pause()
      upstream.destroy()
    }
  }

  /** New connections work; those that went silent stay so until their other end gives them up. */
  speakAgain(): void {
    this.silent = false
  }

  stop(): Promise<void> {
    return this.close()
  }

  private cut() {
    for (const { client, upstream } of this.pairs) {
      client.destroy()
      upstream.destroy()
    }
    this.pairs.clear()
  }

  private serve(server: Server) {
    server.on("connection", (client) => {
      client.on("error", () => {})
      if (this.silent) return void client.pause()
      const upstream = dial(this.target.port, this.target.host)
      const pair = { client, upstream }
      this.pairs.add(pair)
      upstream.on("error", () => client.destroy())
      upstream.on("close", () => {
        if (!this.silent) client.destroy()
      })
      client.on("close", () => {
        upstream.destroy()
        this.pairs.delete(pair)
      })
      client.pipe(upstream)
      upstream.pipe(client)
    })
  }
}

const listen = (server: Server, port: number) =>
  new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, "127.0.0.1", resolve)
  })
