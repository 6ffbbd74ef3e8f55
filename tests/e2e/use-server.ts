import { type BrowserContext, type Cookie, test } from "@playwright/test"
import { Browser } from "../support/browser"
import { ADMIN, Rewake, type StartOptions } from "../support/server"

type Assign = (rewake: Rewake) => void

/**
 * One server for all tests of the file or describe block, and a page that is signed in as its admin. For tests that never kill the
 * server or its daemon; each names its own task, since it may find those of others.
 */
export function useSharedServer(assign: Assign, options: StartOptions = {}): void {
  let rewake: Rewake | null = null
  test.beforeAll(async () => {
    rewake = await Rewake.start(options)
    assign(rewake)
  })
  test.afterAll(() => rewake?.stop())
  test.beforeEach(({ context }) => addSession(context, rewake))
}

/**
 * A server without tasks for each test, and a page that is signed in as its admin. For tests that kill, or that count all that the
 * server has: each finds the server of the one before, running and emptied.
 */
export function useEmptyServer(assign: Assign, options: StartOptions = {}): void {
  let rewake: Rewake | null = null
  useSharedServer((started) => {
    rewake = started
    assign(started)
  }, options)
  test.afterEach(async ({ page }) => {
    // An open page would go on asking for a task that is being removed.
    await page.close()
    await rewake?.empty()
  })
}

const cookiesOf = new WeakMap<Rewake, Pick<Cookie, "name" | "value">[]>()

/** Signs a browser context in as the admin, with one sign-in per server. Without its page: first-minutes.spec.ts tests that. */
export async function addSession(context: BrowserContext, rewake: Rewake | null): Promise<void> {
  if (rewake === null) throw new Error("The server was not started.")
  const cookies = cookiesOf.get(rewake) ?? (await signIn(rewake))
  cookiesOf.set(rewake, cookies)
  await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: rewake.url, httpOnly: true, sameSite: "Lax" })))
}

async function signIn(rewake: Rewake): Promise<Pick<Cookie, "name" | "value">[]> {
  const browser = new Browser(rewake)
  const error = await browser.signIn(ADMIN.email, ADMIN.password)
  if (error !== null) throw new Error(`The sign-in failed: ${error}`)
  return [...browser.cookies].map(([name, value]) => ({ name, value }))
}
