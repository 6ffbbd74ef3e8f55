import { randomBytes } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"

/** A policy cannot name an IPv6 address; a page there relies on 'self'. */
const socketOrigins = (origins: Iterable<string>) =>
  [...origins].filter((origin) => !origin.includes("[")).map((origin) => origin.replace(/^http/, "ws"))

/** Files of agents and people are answered under the API's address: none of them may act there, whatever it is taken for. */
const NO_PAGE = "default-src 'none'; sandbox; frame-ancestors 'none'"

/**
 * Headers on every answer. Next reads the nonce from the request's own CSP header and puts it on its scripts, so that none
 * but ours run; in development React needs eval for its overlays.
 */
export function setSecurityHeaders(
  request: IncomingMessage,
  response: ServerResponse,
  options: { dev: boolean; https: boolean; origins: Iterable<string> },
): void {
  const nonce = randomBytes(16).toString("base64")
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${options.dev ? " 'unsafe-eval'" : ""}`,
    // The terminal sets its sizes and colours by styles of its own, without a nonce.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    // Not every browser takes 'self' for the socket's own scheme.
    `connect-src 'self' ${socketOrigins(options.origins).join(" ")}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ")
  request.headers["content-security-policy"] = policy
  request.headers["x-nonce"] = nonce
  response.setHeader("content-security-policy", /^\/(api|socket\.io)\//.test(request.url ?? "") ? NO_PAGE : policy)
  response.setHeader("x-content-type-options", "nosniff")
  response.setHeader("x-frame-options", "DENY")
  response.setHeader("referrer-policy", "same-origin")
  response.setHeader("permissions-policy", "camera=(), microphone=(), geolocation=()")
  response.setHeader("cross-origin-opener-policy", "same-origin")
  if (options.https) response.setHeader("strict-transport-security", "max-age=31536000")
}
