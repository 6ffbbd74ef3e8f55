import { intentCookie } from "@/server/http/oidc-intent"
import { openRoute } from "@/server/http/route"

export const POST = openRoute("POST /api/v1/invitations/connect", async ({ services, body }) => {
  await services.invitations.require(body.code)
  const cookie = await intentCookie({ kind: "invitation", code: body.code }, services.cookieSettings())
  return new Response(null, { status: 204, headers: { "set-cookie": cookie, "cache-control": "no-store" } })
})
