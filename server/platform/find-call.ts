import { callNamed, callNames } from "../../lib/contracts/api"
import type { RefusedAnswer } from "./gate"

const known = callNames.map((name) => {
  const { method, path } = callNamed(name)
  return { method, pattern: new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}/?$`) }
})

/** What a request to the API is told that no call of the table takes; null for one that is. Pages, and next-auth's own, are not asked. */
export function refuseUnknownCall(method: string, url: string): RefusedAnswer | null {
  const [path = "/"] = url.split("?", 1)
  if (!path.startsWith("/api/") || path.startsWith("/api/auth/")) return null
  const methods = known.filter(({ pattern }) => pattern.test(path)).map((call) => call.method)
  if (methods.length === 0) return answer(404, { code: "NOT_FOUND", message: "There is no such call.", entity: "call" })
  // HEAD is GET without a body, and Next answers OPTIONS itself.
  if ([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].includes(method)) return null
  const allowed = methods.join(", ")
  return answer(405, { code: "METHOD_NOT_ALLOWED", message: `This address takes ${allowed}.`, allowed: methods }, { allow: allowed })
}

const answer = (status: number, body: object, headers: Record<string, string> = {}): RefusedAnswer => ({
  status,
  type: "application/json",
  headers: { "cache-control": "no-store", ...headers },
  body: JSON.stringify(body),
})
