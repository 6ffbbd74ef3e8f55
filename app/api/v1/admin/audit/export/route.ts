import { route, streamOf } from "@/server/http/route"

export const GET = route("GET /api/v1/admin/audit/export", async ({ services, query }) => {
  const day = new Date().toISOString().slice(0, 10)
  return new Response(streamOf(await services.audit.exported(query)), {
    headers: { "content-type": "application/x-ndjson", "content-disposition": `attachment; filename="rewake-security-log-${day}.jsonl"` },
  })
})
