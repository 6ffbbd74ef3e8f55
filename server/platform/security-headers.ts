import { randomBytes } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"

/** Files of agents and people are answered under the API's address: none of them may act there, whatever it is taken for. */
const NO_PAGE = "default-src 'none'; sandbox; frame-ancestors 'none'"

/**
 * Headers on every answer. Next reads the nonce from the request's own CSP header and puts it on its scripts, so that none
 * but ours run; in development React needs eval for its overlays.
 */
export function setSecurityHeaders(request: IncomingMessage, response: ServerResponse, options: { dev: boolean; https: boolean }): void {
  const nonce = randomBytes(16).toString("base64")
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${options.dev ? " 'unsafe-eval'" : ""}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self' ws: wss:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ")
  request.headers["content-security-policy"] = policy
  request.headers["x-nonce"] = nonce
  response.setHeader("content-security-policy", request.url?.startsWith("/api/v1/") ? NO_PAGE : policy)
  response.setHeader("x-content-type-options", "nosniff")
  response.setHeader("x-frame-options", "DENY")
  response.setHeader("referrer-policy", "same-origin")
  response.setHeader("permissions-policy", "camera=(), microphone=(), geolocation=()")
  response.setHeader("cross-origin-opener-policy", "same-origin")
  if (options.https) response.setHeader("strict-transport-security", "max-age=31536000")
}
