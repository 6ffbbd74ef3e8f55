import { expect, test } from "@playwright/test"
import { freePort } from "../support/free-port"
import { CLIENT, startProvider } from "../support/oidc"
import { ADMIN, Rewake } from "../support/server"
import { signIn } from "./pages"

let rewake: Rewake
let provider: Awaited<ReturnType<typeof startProvider>>
test.beforeAll(async () => {
  const port = await freePort()
  provider = await startProvider(`http://127.0.0.1:${port}`)
  const env = { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret }
  rewake = await Rewake.start({ env: { PORT: String(port), ...env } })
})
test.afterAll(async () => {
  await rewake?.stop()
  await provider?.stop()
})

test("an invited user joins with the provider, signs in there again, and a stranger is told why not", async ({ page, context }) => {
  const button = new RegExp(`with ${new URL(provider.issuer).host}`)
  provider.setAccount({ sub: "ada", email: "ada@provider.example", email_verified: false, name: "Ada" })
  provider.useAccount("ada")
  await page.goto(`${rewake.url}/login`)
  await page.getByRole("button", { name: button }).click()
  await expect(page.getByText("There is no invitation for this account.")).toBeVisible()

  // The provider has not verified the address: the link itself is what counts.
  const { body } = await rewake.api<{ link: string }>("POST", "/api/v1/admin/invitations", { email: "ada@rewake.example" })
  await page.goto(body.link)
  await page.getByRole("button", { name: button }).click()
  await page.waitForURL(`${rewake.url}/tasks`)
  await page.goto(`${rewake.url}/settings`)
  await expect(page.getByText("by sign-in provider")).toBeVisible()

  await context.clearCookies({ name: "next-auth.session-token" })
  await page.goto(`${rewake.url}/tasks`)
  await page.waitForURL(/\/login/)
  await page.getByRole("button", { name: button }).click()
  await page.waitForURL(`${rewake.url}/tasks`)
})

test("a user connects the provider by the password, and signs in there afterwards", async ({ page, context }) => {
  const button = new RegExp(`with ${new URL(provider.issuer).host}`)
  provider.setAccount({ sub: "admin-elsewhere", email: "root@provider.example", email_verified: true })
  provider.useAccount("admin-elsewhere")
  await signIn(page, rewake.url)
  await page.goto(`${rewake.url}/settings`)
  await page.getByRole("button", { name: /^Connect/ }).click()
  await page.getByLabel("Your password here").fill("not the password")
  await page.getByRole("dialog").getByRole("button", { name: "Connect" }).click()
  await expect(page.getByRole("dialog").getByText(/password is wrong/)).toBeVisible()
  await page.getByLabel("Your password here").fill(ADMIN.password)
  await page.getByRole("dialog").getByRole("button", { name: "Connect" }).click()
  await expect(page.getByText("root@provider.example")).toBeVisible()

  await context.clearCookies({ name: "next-auth.session-token" })
  await page.goto(`${rewake.url}/login`)
  await page.getByRole("button", { name: button }).click()
  await page.waitForURL(`${rewake.url}/tasks`)
  await page.goto(`${rewake.url}/admin/users`)
  await expect(page.getByText(ADMIN.email)).toBeVisible()
})
