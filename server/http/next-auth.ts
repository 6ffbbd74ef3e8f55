import { randomBytes } from "node:crypto"
import { NextRequest } from "next/server"
import NextAuth, { type AuthOptions } from "next-auth"
import { encode } from "next-auth/jwt"
import CredentialsProvider from "next-auth/providers/credentials"
import { z } from "zod"
import { isAppError } from "../../lib/contracts/errors"
import { Email } from "../../lib/contracts/task"
import { DEVICE_DAYS, type Person, readCookie, readSignInCookie, SIGN_IN_DAYS, sha256 } from "../auth"
import { unavailableError } from "../platform/unavailable-error"
import { getServices, type Services } from "../services"
import { cookie, forgetIntent, readIntent } from "./oidc-intent"
import { readBody } from "./read-body"
import { addressOf, credentialsOf, errorResponse } from "./route"

const DAY_SECONDS = 24 * 3600
/** An address, a password and a token, with room to spare. */
const LARGEST_SIGN_IN = 16 * 1024
const LONGEST_PASSWORD = 256
/** Names a browser, not a user: one that has signed somebody in before is not shut out by strangers' guesses. */
const DEVICE_COOKIE = "rewake.device"

type Context = { params: Promise<{ nextauth: string[] }> }

/** Built inside Next's bundle: next-auth's providers are CommonJS that only a bundler resolves as written. */
export async function nextAuthHandler(request: Request, context: Context) {
  const services = getServices()
  const browser = browserOf(request)
  try {
    const bounded = await withBoundedBody(request)
    const signIn: SignInUnderWay = { done: null }
    const response: Response = await NextAuth(bounded as never, context as never, createOptions(services, request, browser, signIn))
    sendErrorsToLogin(response, services.publicUrl())
    if (signIn.done === null) return response
    await endEarlierSignIn(services, request, browser)
    const { secure } = services.cookieSettings()
    response.headers.append("set-cookie", forgetIntent(secure))
    if (browser.device === null)
      response.headers.append(
        "set-cookie",
        cookie(DEVICE_COOKIE, browser.newDevice, { secure, seconds: DEVICE_DAYS * DAY_SECONDS, path: "/api/auth" }),
      )
    return response
  } catch (error) {
    const told = isAppError(error) ? error : unavailableError(error)
    if (told) return errorResponse(told)
    throw error
  }
}

/** The browser goes on with the new sign-in; the one it had is over. */
async function endEarlierSignIn(services: Services, request: Request, { address }: Browser): Promise<void> {
  const earlier = await services.currentUser({ ...credentialsOf(request), authorization: undefined })
  if (earlier) await services.endSignIn({ user_id: earlier.person.id, sign_in: earlier.credential_id }, address)
}

/** next-auth would go there by pages of its own, which a browser that comes from the provider may not open. */
function sendErrorsToLogin(response: Response, publicUrl: string): void {
  const to = new URL(response.headers.get("location") ?? "/", publicUrl)
  if (to.pathname === "/api/auth/error") response.headers.set("location", `${publicUrl}/login?error=PROVIDER`)
}

/** next-auth reads whatever it is sent, before it knows by whom. */
async function withBoundedBody(request: Request): Promise<Request> {
  if (request.method === "GET" || request.method === "HEAD") return request
  const body = await readBody(request, { bytes: LARGEST_SIGN_IN })
  return new NextRequest(request.url, { method: request.method, headers: request.headers, body: new Uint8Array(body) })
}

type SignInUnderWay = { done: { person: Person; sign_in: string } | null }
type Browser = ReturnType<typeof browserOf>

function browserOf(request: Request) {
  const device = readCookie(request.headers.get("cookie") ?? "", DEVICE_COOKIE)
  return {
    address: addressOf(request),
    user_agent: request.headers.get("user-agent") ?? "",
    device: device !== null && /^[\w-]{20,100}$/.test(device) ? device : null,
    newDevice: randomBytes(24).toString("base64url"),
  }
}

/** Made for one request: who signs in is carried from the step that decides it to the one that makes the cookie. */
function createOptions(services: Services, request: Request, browser: Browser, under: SignInUnderWay): AuthOptions {
  const { config } = services
  const { secret, secure } = services.cookieSettings()
  const trail = services.audit.trail(null, { caller: null, address: browser.address, via: "browser" })
  return {
    secret,
    useSecureCookies: secure,
    session: { strategy: "jwt", maxAge: SIGN_IN_DAYS * DAY_SECONDS },
    jwt: {
      encode: ({ token, maxAge }) => encode({ ...(token ? { token } : {}), secret, ...(maxAge === undefined ? {} : { maxAge }) }),
      // A cookie of an older secret is still somebody's sign-in.
      decode: async ({ token }) => (token ? readSignInCookie(token, config.auth_secrets) : null),
    },
    pages: { signIn: "/login", error: "/login" },
    providers: [
      CredentialsProvider({
        credentials: { email: {}, password: {} },
        async authorize(credentials) {
          const email = Email.safeParse(credentials?.email)
          const password = credentials?.password ?? ""
          if (!email.success || password === "" || password.length > LONGEST_PASSWORD) return null
          try {
            const device = browser.device ?? browser.newDevice
            const given = { email: email.data, password, address: browser.address, user_agent: browser.user_agent, device }
            under.done = await services.signInWithPassword(given, trail)
          } catch (error) {
            // next-auth hands only the message of an error to the sign-in page.
            throw new Error((isAppError(error) ? error : unavailableError(error))?.code ?? "INTERNAL")
          }
          return under.done?.person ?? null
        },
      }),
      ...(config.oidc ? [oidcProvider(config.oidc)] : []),
    ],
    callbacks: {
      async signIn({ account, profile }) {
        if (account?.provider !== "oidc") return true
        const result = await signInAtProvider(services, request, browser, profile, trail)
        if ("refused" in result) return `/login?error=${result.refused}`
        under.done = result
        return true
      },
      jwt({ token }) {
        return under.done ? { sub: under.done.person.id, sign_in: under.done.sign_in } : token
      },
    },
    events: {
      async signOut({ token }) {
        if (typeof token?.sign_in !== "string" || typeof token.sub !== "string") return
        await services.endSignIn({ user_id: token.sub, sign_in: token.sign_in }, browser.address)
      },
    },
    logger: {
      error: (code, metadata) => services.logger.warn({ code, reason: reasonOf(metadata) }, "a sign-in did not work"),
      warn: () => {},
      debug: () => {},
    },
  }
}

/** The message only: what else next-auth adds may hold what was sent. */
const reasonOf = (metadata: unknown): string => {
  const error = metadata instanceof Error ? metadata : (metadata as { error?: unknown } | null)?.error
  return error instanceof Error ? error.message.slice(0, 500) : ""
}

type Oidc = NonNullable<Services["config"]["oidc"]>
const Profile = z.object({
  sub: z.string().min(1).max(255),
  email: z.string().max(320).nullish(),
  // Some providers send it as text.
  email_verified: z.union([z.boolean(), z.literal("true").transform(() => true), z.literal("false").transform(() => false)]).nullish(),
  name: z.string().nullish(),
})

type OidcClient = { issuer: { metadata: { issuer: string } }; userinfo: (tokens: unknown) => Promise<object> }

const oidcProvider = ({ issuer, client_id, client_secret }: Oidc) =>
  ({
    id: "oidc",
    name: new URL(issuer).host,
    type: "oauth",
    wellKnown: `${issuer}/.well-known/openid-configuration`,
    issuer,
    clientId: client_id,
    clientSecret: client_secret,
    authorization: { params: { scope: "openid email profile" } },
    idToken: true,
    checks: ["pkce", "state", "nonce"],
    userinfo: {
      // Where the address stands differs: in the token, or only here. openid-client checks that both are about the same subject.
      async request({ client, tokens }: { client: OidcClient; tokens: { claims(): object } }) {
        // Metadata that names another issuer is not this provider's.
        if (client.issuer.metadata.issuer.replace(/\/+$/, "") !== issuer) throw new Error("the provider's metadata names another issuer")
        return { ...tokens.claims(), ...(await client.userinfo(tokens)) }
      },
    },
    profile: (claims: { sub: string }) => ({ id: claims.sub }),
  }) as never as AuthOptions["providers"][number]

type Refused = { refused: string }
const JOINED = { connected: "identity.connected", invitation: "invitation.accepted", domain: "user.created" } as const

async function signInAtProvider(
  services: Services,
  request: Request,
  browser: Browser,
  profile: unknown,
  trail: ReturnType<Services["audit"]["trail"]>,
): Promise<{ person: Person; sign_in: string } | Refused> {
  const parsed = Profile.safeParse(profile)
  const oidc = services.config.oidc
  if (!parsed.success || !oidc) return { refused: "PROVIDER" }
  const { sub, email, email_verified, name } = parsed.data
  const claims = { issuer: oidc.issuer, subject: sub, email: email ?? null, email_verified: email_verified === true, name: name ?? "" }
  const intent = await readIntent(request, services.config.auth_secrets)
  const current = intent?.kind === "connect" ? await services.currentUser({ ...credentialsOf(request), authorization: undefined }) : null
  const details = { method: "oidc", issuer: oidc.issuer }
  const resolved = await services.identities.resolve(claims, intent, current?.person ?? null, (joined, user) => [
    trail.entry({ action: JOINED[joined], user, target: joined === "domain" ? user.id : null, details }),
  ])
  if ("refused" in resolved) {
    const user = { id: null, email: claims.email ?? "" }
    await services.audit.write([
      trail.entry({ action: "sign_in.failed", outcome: "failed", user, details: { ...details, reason: resolved.refused } }),
    ])
    return resolved
  }
  const { person } = resolved
  const device_sha256 = sha256(browser.device ?? browser.newDevice)
  const sign_in = await services.signIns.begin(person, {}, { method: "oidc", ...browser, device_sha256 }, (id) => [
    trail.entry({ action: "sign_in.succeeded", user: person, target: id, details }),
  ])
  return sign_in === null ? { refused: "DISABLED" } : { person, sign_in }
}
