import { randomUUID } from "node:crypto"
import { NextRequest } from "next/server"
import NextAuth, { type AuthOptions } from "next-auth"
import CredentialsProvider from "next-auth/providers/credentials"
import { isAppError } from "../../lib/contracts/errors"
import { Email } from "../../lib/contracts/task"
import type { People, SignInLimit } from "../auth"
import { getServices } from "../services"
import { readBody } from "./read-body"
import { errorResponse } from "./route"

const THIRTY_DAYS = 30 * 24 * 3600
/** An address, a password and a token, with room to spare. */
const LARGEST_SIGN_IN = 16 * 1024

type Context = { params: Promise<{ nextauth: string[] }> }

/** Built inside Next's bundle: next-auth's providers are CommonJS that only a bundler resolves as written. */
export async function nextAuthHandler(request: Request, context: Context) {
  let bounded: Request
  try {
    bounded = await withBoundedBody(request)
  } catch (error) {
    if (isAppError(error)) return errorResponse(error)
    throw error
  }
  const { people, signInLimit, config, gateway, publicUrl } = getServices()
  const options = createNextAuthOptions({
    people,
    limit: signInLimit,
    secret: config.auth_secrets[0],
    secureCookie: publicUrl().startsWith("https:"),
    onSignOut: gateway.dropSignIn,
  })
  return NextAuth(bounded as never, context as never, options)
}

/** next-auth reads whatever it is sent, before it knows by whom. */
async function withBoundedBody(request: Request): Promise<Request> {
  if (request.method === "GET" || request.method === "HEAD") return request
  const body = await readBody(request, { bytes: LARGEST_SIGN_IN })
  return new NextRequest(request.url, { method: request.method, headers: request.headers, body: new Uint8Array(body) })
}

type Deps = { people: People; limit: SignInLimit; secret: string; secureCookie: boolean; onSignOut: (signIn: string) => void }

function createNextAuthOptions({ people, limit, secret, secureCookie, onSignOut }: Deps): AuthOptions {
  return {
    secret,
    useSecureCookies: secureCookie,
    session: { strategy: "jwt", maxAge: THIRTY_DAYS },
    pages: { signIn: "/login", error: "/login" },
    providers: [
      CredentialsProvider({
        credentials: { email: {}, password: {} },
        async authorize(credentials) {
          const email = Email.safeParse(credentials?.email)
          if (!email.success || !credentials?.password) return null
          try {
            await limit.count(email.data)
          } catch (error) {
            // next-auth hands only the message of an error to the sign-in page.
            throw new Error(isAppError(error) ? error.code : "INTERNAL")
          }
          const person = await people.verifySignIn(email.data, credentials.password)
          if (person) await limit.forgive(email.data)
          return person
        },
      }),
    ],
    callbacks: {
      jwt({ token, user }) {
        if (!user) return token
        return { ...token, auth_epoch: (user as { auth_epoch?: number }).auth_epoch ?? 0, sign_in: randomUUID() }
      },
    },
    events: {
      signOut({ token }) {
        if (typeof token?.sign_in === "string") onSignOut(token.sign_in)
      },
    },
    logger: { error: () => {}, warn: () => {}, debug: () => {} },
  }
}
