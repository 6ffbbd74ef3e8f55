import type { IncomingHttpHeaders } from "node:http"

/**
 * Which requests are let in, before a page, a route or a socket sees them. A browser sends its cookie whoever wrote the page that
 * asks; only these headers, which no page can set, tell who did. Another port of the same host is another page.
 */
export type Gate = { origins: ReadonlySet<string>; hosts: ReadonlySet<string> }
export type Refusal = "wrong_host" | "foreign_page" | "unproven_cookie" | "jsonp"
export type GateRequest = { method: string; url: string; headers: IncomingHttpHeaders }

/** Asked by programs that watch the server under whatever name they know it; they answer nothing that is anybody's. */
const OPEN_TO_ALL = new Set(["/api/health", "/api/ready", "/api/metrics"])
const SIGN_IN_COOKIE = /(?:^|;\s*)(?:__Secure-)?next-auth\.session-token/

/** As a URL writes them. */
export const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"]

/** `configured`: PUBLIC_URL, the one address people use. Without it the machine's own names count. */
export function createGate({ configured, host, port }: { configured: string | null; host: string; port: number }): Gate {
  const names = [...LOOPBACK_NAMES, host.includes(":") ? `[${host}]` : host]
  const urls = (configured === null ? names.map((name) => `http://${name}:${port}`) : [configured]).map((url) => new URL(url))
  return { origins: new Set(urls.map(({ origin }) => origin)), hosts: new Set(urls.map((url) => url.host)) }
}

/** Pure. Null: it may come in. */
export function refusalOf(gate: Gate, { method, url, headers }: GateRequest): Refusal | null {
  const [path = "/", query = ""] = url.split("?", 2)
  if (OPEN_TO_ALL.has(path)) return null
  // A name somebody else's DNS points here would make their page ours.
  if (!gate.hosts.has((headers.host ?? "").toLowerCase())) return "wrong_host"
  const isSocket = path.startsWith("/socket.io")
  // An answer as a script can be read by any page.
  if (isSocket && new URLSearchParams(query).has("j")) return "jsonp"
  if (headers.origin !== undefined) return gate.origins.has(headers.origin) ? null : "foreign_page"

  const site = headers["sec-fetch-site"]
  if (site === "same-origin" || site === "none") return null
  // Any page may link to ours: it can neither read nor frame what is shown. A sign-in elsewhere ends with such a link, too.
  const isLink = headers["sec-fetch-mode"] === "navigate" && path.startsWith("/api/auth/callback/")
  if (isLink || (!isSocket && !path.startsWith("/api/"))) return method === "GET" || method === "HEAD" ? null : "foreign_page"
  if (site !== undefined) return "foreign_page"

  // Over plain http a browser says nothing of the site, but our pages have it name themselves.
  if (gate.origins.has(originOf(headers.referer))) return null
  return headers.authorization !== undefined || !SIGN_IN_COOKIE.test(headers.cookie ?? "") ? null : "unproven_cookie"
}

function originOf(referer: string | undefined): string {
  return referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : ""
}

const WORDS: Record<Exclude<Refusal, "wrong_host">, string> = {
  foreign_page: "This request came from another site.",
  unproven_cookie: "A request with a cookie must say which page it comes from. Programs send a bearer token.",
  jsonp: "Answers as scripts are not given.",
}

export type RefusedAnswer = { status: number; type: string; body: string; headers?: Record<string, string> }

/** What whoever asked is told. */
export function refusedAnswer(refusal: Refusal, url: string, publicUrl: string): RefusedAnswer {
  if (refusal !== "wrong_host") return json(403, "FORBIDDEN", WORDS[refusal])
  const message = `This server is at ${publicUrl}. If people reach it under another name, set PUBLIC_URL to that.`
  if (url.startsWith("/api/") || url.startsWith("/socket.io")) return json(421, "WRONG_HOST", message)
  const shown = publicUrl.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  const body = `<!doctype html><meta charset="utf-8"><title>Rewake</title><p>This server is at <a href="${shown}">${shown}</a>.</p><p>If people reach it under another name, set <code>PUBLIC_URL</code> to that.</p>`
  return { status: 421, type: "text/html; charset=utf-8", body }
}

const json = (status: number, code: string, message: string): RefusedAnswer => ({
  status,
  type: "application/json",
  body: JSON.stringify({ code, message }),
})
