import { getToken } from "next-auth/jwt"
import type { ApiTokens } from "./api-tokens"
import type { People, Person } from "./people"

export type Credentials = { authorization: string | undefined; cookie: string | undefined }
/** `sign_in` names the one browser's sign-in, or the one token, so that its sockets can be closed when it is over. */
export type Caller = { person: Person; via: "browser" | "token"; sign_in: string | null }

/** Who is calling: a program by its bearer token, or a browser by next-auth's cookie. The same for HTTP and sockets. */
export function createCurrentUser(options: { people: People; tokens: ApiTokens; secrets: readonly string[]; secureCookie: boolean }) {
  return async ({ authorization, cookie }: Credentials): Promise<Caller | null> => {
    if (authorization !== undefined) {
      const bearer = /^Bearer (.+)$/i.exec(authorization)?.[1]
      const token = bearer ? await options.tokens.ownerOf(bearer) : null
      const person = token ? await options.people.byId(token.user_id) : null
      return person && token ? { person, via: "token", sign_in: token.id } : null
    }
    if (!cookie) return null
    const req = { cookies: parseCookies(cookie), headers: {} }
    const readWith = (secret: string) => getToken({ req: req as never, secret, secureCookie: options.secureCookie })
    const token = (await Promise.all(options.secrets.map(readWith))).find((found) => found !== null)
    if (typeof token?.sub !== "string") return null
    const person = await options.people.byId(token.sub)
    // Raised by a password change or a disabling: cookies from before it are worth nothing.
    if (!person || token.auth_epoch !== person.auth_epoch) return null
    return { person, via: "browser", sign_in: typeof token.sign_in === "string" ? token.sign_in : null }
  }
}

function parseCookies(header: string): Record<string, string> {
  const pairs = header.split(";").map((part) => part.trim().split("="))
  return Object.fromEntries(pairs.map(([name, ...value]) => [name ?? "", safeDecode(value.join("="))]))
}
function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
