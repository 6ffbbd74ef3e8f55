import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { useServer } from "../support/use-server"

const rewake = useServer()
const suggest = (api = rewake.api, q = "") => api<{ items: { name: string }[]; code?: string }>("GET", `/api/v1/workspaces?q=${q}`)

test("while many ask for repositories, other requests are answered", async () => {
  for (let i = 0; i < 60; i++) for (let j = 0; j < 60; j++) mkdirSync(join(rewake.dataDir, `f${i}`, `g${j}`), { recursive: true })
  mkdirSync(join(rewake.dataDir, "f1", "a-repository", ".git"), { recursive: true })
  await fetch(`${rewake.url}/api/health`)
  const order: string[] = []
  const asked = Array.from({ length: 20 }, async () => {
    const answer = await suggest(rewake.api, "a-repo")
    order.push("repositories")
    return answer
  })
  const health = fetch(`${rewake.url}/api/health`).then(({ status }) => {
    order.push("health")
    return status
  })
  expect(await health).toBe(200)
  for (const { body } of await Promise.all(asked)) expect(body.items.map(({ name }) => name)).toEqual(["a-repository"])
  expect(order[0]).toBe("health")
})

test("only those who may run agents on the host are told what lies there", async () => {
  const invited = await rewake.api<{ link: string }>("POST", "/api/v1/admin/invitations", { email: "u@example.org", role: "user" })
  const code = new URL(invited.body.link).searchParams.get("code")
  await rewake.api("POST", "/api/v1/invitations/accept", { code, name: "U", password: "long enough for this" })
  const user = rewake.as(await rewake.issueToken("u@example.org"))
  expect(await suggest(user)).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } })
  expect((await suggest()).status).toBe(200)
})
