import { decode } from "next-auth/jwt"
import type { Scope } from "../../lib/contracts/people"
import type { ApiTokens } from "./api-tokens"
import type { People, Person } from "./people"
import type { SignIns } from "./sign-ins"

export type Credentials = { authorization: string | undefined; cookie: string | undefined }
/** `credential_id` names the one browser's sign-in, or the one token, so that its sockets can be closed when it is over. */
export type Caller = {
  person: Person
  via: "browser" | "token"
  credential_id: string
  /** What a token may be used for; null for a browser, which may do what its user may. */
  scopes: Scope[] | null
  expires_at: string
}

/** Who is calling: a program by its bearer token, or a browser by next-auth's cookie. The same for HTTP and sockets. */
export function createCurrentUser(options: {
  people: People
  tokens: ApiTokens
  signIns: SignIns
  secrets: readonly string[]
  secureCookie: boolean
}) {
  const cookieName = `${options.secureCookie ? "__Secure-" : ""}next-auth.session-token`
  return async ({ authorization, cookie }: Credentials): Promise<Caller | null> => {
    if (authorization !== undefined) {
      const bearer = /^Bearer (.+)$/i.exec(authorization)?.[1]
      const token = bearer ? await options.tokens.ownerOf(bearer) : null
      const person = token ? await options.people.byId(token.user_id) : null
      if (!person || !token) return null
      return { person, via: "token", credential_id: token.id, scopes: token.scopes, expires_at: token.expires_at }
    }
    const value = cookie && readCookie(cookie, cookieName)
    const claims = value ? await readSignInCookie(value, options.secrets) : null
    if (!claims) return null
    const signIn = await options.signIns.ownerOf(claims.sign_in)
    const person = signIn?.user_id === claims.sub ? await options.people.byId(claims.sub) : null
    if (!person || !signIn) return null
    return { person, via: "browser", credential_id: claims.sign_in, scopes: null, expires_at: signIn.expires_at }
  }
}

/** Sealed with any of the secrets; the newest is first. */
export async function readSignInCookie(value: string, secrets: readonly string[]): Promise<{ sub: string; sign_in: string } | null> {
  for (const secret of secrets) {
    const token = await decode({ token: value, secret }).catch(() => null)
    if (token) return typeof token.sub === "string" && typeof token.sign_in === "string" ? { sub: token.sub, sign_in: token.sign_in } : null
  }
  return null
}

/** A cookie's value; one that next-auth had to cut into pieces is put together again. */
export function readCookie(header: string, name: string): string | null {
  const cookies = new Map(
    header.split(";").map((part) => {
      const [key = "", ...value] = part.trim().split("=")
      return [key, safeDecode(value.join("="))] as const
    }),
  )
  const whole = cookies.get(name)
  if (whole !== undefined) return whole
  const pieces: string[] = []
  for (let piece = cookies.get(`${name}.0`); piece !== undefined; piece = cookies.get(`${name}.${pieces.length}`)) pieces.push(piece)
  return pieces.length > 0 ? pieces.join("") : null
}
function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
