import net from "node:net"

/** Stands between a server and its PostgreSQL: passes everything on, refuses connections, or takes them and says nothing. */
export class TcpProxy {
  private mode: "pass" | "cut" | "swallow" = "pass"
  private readonly lines = new Set<{ socket: net.Socket; silent: boolean }>()
  private constructor(
    private readonly server: net.Server,
    readonly port: number,
  ) {}

  /** In front of the server in this URL, whose address becomes the proxy's. */
  static async inFrontOf(url: string): Promise<{ proxy: TcpProxy; url: string }> {
    const { hostname, port } = new URL(url)
    const server = net.createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const proxy = new TcpProxy(server, (server.address() as net.AddressInfo).port)
    server.on("connection", (socket) => proxy.take(socket, { hostname, port }))
    const reached = new URL(url)
    reached.hostname = "127.0.0.1"
    reached.port = String(proxy.port)
    return { proxy, url: reached.href }
  }

  pass(): void {
    // What was swallowed is missing: a connection that lost it must not go on.
    this.end((line) => line.silent)
    this.mode = "pass"
  }
  /** As pass, but those that went silent stay so until their other end gives them up. */
  passNewOnes(): void {
    this.mode = "pass"
  }
  cut(): void {
    this.refuseNewOnes()
    this.end(() => true)
  }
  /** Those that are open go on. */
  refuseNewOnes(): void {
    this.mode = "cut"
  }
  swallow(): void {
    this.mode = "swallow"
    for (const line of this.lines) line.silent = true
  }
  stop(): void {
    this.server.close()
    this.end(() => true)
  }

  private end(which: (line: { silent: boolean }) => boolean): void {
    for (const line of this.lines) if (which(line)) line.socket.destroy()
  }

  private take(socket: net.Socket, { hostname, port }: { hostname: string; port: string }): void {
    if (this.mode === "cut") return void socket.destroy()
    const onward = net.connect(Number(port), hostname)
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      const line = { socket: from, silent: this.mode === "swallow" }
      this.lines.add(line)
      from.on("data", (chunk) => !line.silent && to.write(chunk))
      from.on("error", () => {})
      from.on("close", () => {
        this.lines.delete(line)
        to.destroy()
      })
    }
  }
}
