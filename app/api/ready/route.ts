import { getServices } from "@/server/services"

export const dynamic = "force-dynamic"

export const GET = () =>
  getServices().isReady()
    ? Response.json({ ready: true })
    : Response.json({ code: "NOT_READY", message: "The server is starting." }, { status: 503 })
