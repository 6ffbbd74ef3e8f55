import { createHash, timingSafeEqual } from "node:crypto"
import { z } from "zod"
import { AppError } from "@/lib/contracts/errors"
import { Email, Password } from "@/lib/contracts/task"
import { openRoute } from "@/server/http/route"

const Setup = z.object({ code: z.string(), email: Email, name: z.string().trim().max(100).default(""), password: Password })

export const POST = openRoute({ body: Setup, status: 201 }, async ({ services, body }) => {
  await services.signInLimit.count("setup")
  const expected = services.setupCode()
  if (!expected || !sameText(expected, body.code)) throw new AppError("FORBIDDEN", "This link has been used, or is not the newest one.", {})
  const { email } = await services.people.createFirstAdmin(body)
  services.firstAdminMade()
  return { email }
})

const digest = (text: string) => createHash("sha256").update(text).digest()
const sameText = (a: string, b: string) => timingSafeEqual(digest(a), digest(b))
