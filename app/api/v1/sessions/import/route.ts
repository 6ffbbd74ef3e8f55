import { ImportQuery } from "@/lib/contracts/transfer"
import { route } from "@/server/http/route"

export const POST = route({ query: ImportQuery, status: 201 }, ({ services, person, query, stream }) =>
  services.transfer.import(person, stream(), query),
)
