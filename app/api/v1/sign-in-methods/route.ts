import { openRoute } from "@/server/http/route"

export const dynamic = "force-dynamic"

export const GET = openRoute("GET /api/v1/sign-in-methods", async ({ services }) => ({
  oidc: services.config.oidc && { host: new URL(services.config.oidc.issuer).host },
}))
