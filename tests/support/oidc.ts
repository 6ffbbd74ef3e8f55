import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import Provider from "oidc-provider"
import type { Browser } from "./browser"

export type Account = { sub: string; email?: string; email_verified?: boolean; name?: string }
export const CLIENT = { id: "rewake", secret: "a client secret for tests" }

/** A real OpenID Connect provider on loopback, at which every browser is whoever the test says. */
export async function startProvider(rewakeUrl: string) {
  const accounts = new Map<string, Account>()
  let next = ""
  let handle: (request: Parameters<ReturnType<Provider["callback"]>>[0], response: Parameters<ReturnType<Provider["callback"]>>[1]) => void
  const server: Server = createServer((request, response) => handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${rewakeUrl}/api/auth/callback/oidc`],
        grant_types: ["authorization_code"],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: async () => accounts.get(sub) }),
    loadExistingGrant: async ({
      oidc,
    }: {
      oidc: { provider: { Grant: new (of: object) => Grant }; client: { clientId: string }; session: { accountId: string } }
    }) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope("openid email profile")
      await grant.save()
      return grant
    },
  })
  const answer = provider.callback()
  handle = (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return void answer(request, response)
    void provider.interactionFinished(request, response, { login: { accountId: next } })
  }

  return {
    issuer,
    setAccount: (account: Account) => void accounts.set(account.sub, account),
    /** Every browser that comes is this account. */
    useAccount: (sub: string) => {
      next = sub
    },
    /** Signs in at the provider as that account. Where the browser ends up, as a path of ours. */
    async signIn(browser: Browser, sub: string, change: (callback: URL) => void = () => {}): Promise<string> {
      next = sub
      const begun = await browser.beginAtProvider()
      const callback = await follow(begun, rewakeUrl)
      change(callback)
      const to = new URL(await browser.followLink(`${callback.pathname}${callback.search}`), rewakeUrl)
      return `${to.pathname}${to.search}`
    },
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> }

/** From the provider's first page to the address it sends the browser back to, with the provider's own cookies. */
async function follow(start: string, until: string): Promise<URL> {
  const jar = new Map<string, string>()
  for (let url = new URL(start), hops = 0; hops < 10; hops++) {
    if (url.href.startsWith(until)) return url
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
    const response = await fetch(url, { redirect: "manual", headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (name) jar.set(name, value ?? "")
    }
    const location = response.headers.get("location")
    if (!location) throw new Error(`the provider answered ${response.status}: ${(await response.text()).slice(0, 500)}`)
    url = new URL(location, url)
  }
  throw new Error("the provider sends the browser round in circles")
}
