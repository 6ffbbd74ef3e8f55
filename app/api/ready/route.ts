import { errorResponse } from "@/server/http/route"
import { getServices } from "@/server/services"

export const dynamic = "force-dynamic"

/** For load balancers, and for the page while something is away: both ask again until it is there. */
export const GET = async () => {
  const why = await getServices().whyNotReady()
  return why ? errorResponse(why) : Response.json({ ready: true }, { headers: { "cache-control": "no-store" } })
}
