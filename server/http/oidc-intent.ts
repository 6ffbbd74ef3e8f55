import { decode, encode } from "next-auth/jwt"
import { z } from "zod"
import { type Intent, readCookie } from "../auth"

/** What a browser is about to do at the provider, kept by that browser alone and for a few minutes. */
const NAME = "rewake.intent"
const SECONDS = 600
/** A cookie of one kind must not open as one of another. */
const SALT = "rewake.intent"
const Shape = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("connect"), user_id: z.string() }),
  z.object({ kind: z.literal("invitation"), code: z.string() }),
])

export async function intentCookie(intent: Intent, options: { secret: string; secure: boolean }): Promise<string> {
  const value = await encode({ token: { intent }, secret: options.secret, maxAge: SECONDS, salt: SALT })
  return cookie(NAME, value, { secure: options.secure, seconds: SECONDS, path: "/api/auth" })
}

export async function readIntent(request: Request, secrets: readonly string[]): Promise<Intent | null> {
  const value = readCookie(request.headers.get("cookie") ?? "", NAME)
  for (const secret of value ? secrets : []) {
    const token = await decode({ token: value ?? "", secret, salt: SALT }).catch(() => null)
    const parsed = Shape.safeParse(token?.intent)
    if (parsed.success) return parsed.data
  }
  return null
}

export const forgetIntent = (secure: boolean) => cookie(NAME, "", { secure, seconds: 0, path: "/api/auth" })

/** Lax: it has to come along when the provider sends the browser back. */
export const cookie = (name: string, value: string, { secure, seconds, path }: { secure: boolean; seconds: number; path: string }) =>
  `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`
