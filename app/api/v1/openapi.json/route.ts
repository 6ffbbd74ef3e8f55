import { openApiDocument } from "@/server/http/openapi"
import { getServices } from "@/server/services"

export const dynamic = "force-dynamic"

export const GET = () => Response.json(openApiDocument(getServices().publicUrl()))
