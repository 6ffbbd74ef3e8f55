import { createHash, timingSafeEqual } from "node:crypto"
import { AppError } from "@/lib/contracts/errors"
import { openRoute } from "@/server/http/route"

export const POST = openRoute("POST /api/v1/setup", async ({ services, body, address, trail }) => {
  const expected = services.setupCode()
  if (!expected || !sameText(expected, body.code)) {
    // Only wrong codes are counted, by address: nobody else's guesses keep the owner out.
    await services.rateLimits.count("guess", `setup|${address}`)
    throw new AppError("FORBIDDEN", "This link has been used, or is not the newest one.", {})
  }
  const { email } = await services.people.createFirstAdmin(body, (made) => [trail.entry({ user: made, target: made.id })])
  services.firstAdminMade()
  return { email }
})

const digest = (text: string) => createHash("sha256").update(text).digest()
const sameText = (a: string, b: string) => timingSafeEqual(digest(a), digest(b))
