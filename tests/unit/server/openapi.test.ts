import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { calls, openApiDocument } from "../../../server/http/openapi"

test("the published contract names every call there is, and no other", () => {
  const routes = findRoutes("app/api/v1").flatMap((file) => {
    const path = file
      .replace(/^app\/api\/v1/, "")
      .replace(/\/route\.ts$/, "")
      .replace(/\[(\w+)\]/g, "{$1}")
    const methods = [...readFileSync(file, "utf8").matchAll(/export const (GET|POST|PATCH|PUT|DELETE)\b/g)].map(([, method]) =>
      method?.toLowerCase(),
    )
    return methods.map((method) => `${method} ${path}`)
  })
  expect(calls.map((call) => `${call.method} ${call.path}`).sort()).toEqual(routes.sort())
})

test("every schema of the contract can be written down", () => {
  const document = openApiDocument("http://localhost")
  expect(Object.keys(document.paths).length).toBeGreaterThan(20)
  expect(() => JSON.stringify(document)).not.toThrow()
})

const findRoutes = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? findRoutes(path) : entry.name === "route.ts" ? [path] : []
  })
