import { route } from "@/server/http/route"

/** Numbers about everybody's sessions: for admins, and for a scraper that sends an admin's token. */
export const GET = route("GET /api/metrics", async ({ services }) => {
  const { contentType, text } = await services.metrics()
  return new Response(text, { headers: { "content-type": contentType } })
})
