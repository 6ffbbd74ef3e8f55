import { request } from "node:http"
import { io, type Socket } from "socket.io-client"
import type { Answer, Rewake } from "./server"

/** A cookie jar that speaks to the server as a browser does: next-auth's own endpoints, same origin, no bearer token. */
export class Browser {
  readonly cookies = new Map<string, string>()
  /** Set-Cookie lines as they came, for those who look at their attributes. */
  readonly setCookies: string[] = []
  private readonly sockets: Socket[] = []
  /** `address`: where it says it comes from, for a server that trusts its proxy. */
  constructor(
    private readonly rewake: Rewake,
    private readonly address: string | null = null,
  ) {}

  cookieHeader = () => [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ")

  async fetch(
    method: string,
    path: string,
    init: { form?: Record<string, string>; json?: unknown; headers?: Record<string, string> } = {},
  ) {
    const response = await fetch(`${this.rewake.url}${path}`, {
      method,
      redirect: "manual",
      headers: {
        cookie: this.cookieHeader(),
        "sec-fetch-site": "same-origin",
        ...(method === "GET" ? {} : { origin: this.rewake.url }),
        ...(init.json === undefined ? {} : { "content-type": "application/json" }),
        ...(this.address === null ? {} : { "x-forwarded-for": this.address }),
        ...init.headers,
      },
      ...(init.form ? { body: new URLSearchParams(init.form) } : init.json === undefined ? {} : { body: JSON.stringify(init.json) }),
    })
    this.take(response.headers.getSetCookie())
    return response
  }
  private take(lines: readonly string[]): void {
    for (const line of lines) {
      this.setCookies.push(line)
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (name && value) this.cookies.set(name, value)
      else if (name) this.cookies.delete(name)
    }
  }

  /** Follows a link from another site; where it is sent on to. By node:http, because fetch says of itself that it is no navigation. */
  followLink(path: string): Promise<string> {
    const headers = { cookie: this.cookieHeader(), "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }
    return new Promise((resolve, reject) => {
      const sent = request(`${this.rewake.url}${path}`, { headers }, (response) => {
        this.take(response.headers["set-cookie"] ?? [])
        response.resume().on("end", () => resolve(response.headers.location ?? `${response.statusCode}`))
      })
      sent.on("error", reject).end()
    })
  }

  async api<T = Record<string, unknown>>(method: string, path: string, json?: unknown): Promise<Answer<T>> {
    const response = await this.fetch(method, path, json === undefined ? {} : { json })
    const text = await response.text()
    return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as T, headers: response.headers }
  }

  private async csrfToken(): Promise<string> {
    return ((await (await this.fetch("GET", "/api/auth/csrf")).json()) as { csrfToken: string }).csrfToken
  }

  /** The error's name, or null when it worked. */
  async signIn(email: string, password: string): Promise<string | null> {
    const form = { csrfToken: await this.csrfToken(), email, password, json: "true", callbackUrl: this.rewake.url }
    const response = await this.fetch("POST", "/api/auth/callback/credentials", { form })
    const { url } = (await response.json()) as { url: string }
    return new URL(url, this.rewake.url).searchParams.get("error")
  }

  /** The address at the provider that signing in there begins with. */
  async beginAtProvider(): Promise<string> {
    const form = { csrfToken: await this.csrfToken(), json: "true", callbackUrl: `${this.rewake.url}/tasks` }
    const response = await this.fetch("POST", "/api/auth/signin/oidc", { form })
    return ((await response.json()) as { url: string }).url
  }

  async signOut(): Promise<void> {
    await this.fetch("POST", "/api/auth/signout", { form: { csrfToken: await this.csrfToken(), json: "true" } })
  }

  /** Settles once the handshake was accepted or refused. */
  async connect(headers: Record<string, string> = {}): Promise<{ socket: Socket; error: (Error & { data?: { code?: string } }) | null }> {
    const socket = io(this.rewake.url, {
      transports: ["websocket"],
      forceNew: true,
      reconnection: false,
      extraHeaders: { cookie: this.cookieHeader(), origin: this.rewake.url, ...headers },
    })
    this.sockets.push(socket)
    const error = await new Promise<Error | null>((resolve) => {
      socket.once("connect", () => resolve(null))
      socket.once("connect_error", resolve)
    })
    return { socket, error }
  }

  close(): void {
    for (const socket of this.sockets) socket.disconnect()
  }
}
