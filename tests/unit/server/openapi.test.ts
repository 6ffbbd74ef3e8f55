import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { callNames } from "../../../lib/contracts/api"
import { openApiDocument } from "../../../server/http/openapi"

test("the API table names every route there is, and no other", () => {
  const routes = findRoutes("app/api")
    .filter((file) => !file.startsWith("app/api/auth/"))
    .flatMap((file) => {
      const path = file
        .replace(/^app/, "")
        .replace(/\/route\.ts$/, "")
        .replace(/\[(\w+)\]/g, "{$1}")
      const methods = [...readFileSync(file, "utf8").matchAll(/export const (GET|POST|PATCH|PUT|DELETE)\b/g)].map(([, method]) => method)
      return methods.map((method) => `${method} ${path}`)
    })
  expect([...callNames].sort()).toEqual(routes.sort())
})

test("each route is built from its own entry of the table", () => {
  for (const file of findRoutes("app/api").filter((path) => !path.startsWith("app/api/auth/"))) {
    for (const [, method, name] of readFileSync(file, "utf8").matchAll(/export const (\w+) = (?:open)?[rR]oute\(\s*"([^"]+)"/g)) {
      const path = file.replace(/^app|\/route\.ts$/g, "").replace(/\[(\w+)\]/g, "{$1}")
      expect(name).toBe(`${method} ${path}`)
    }
  }
})

test("every schema of the contract can be written down", () => {
  const document = openApiDocument("http://localhost")
  expect(Object.keys(document.paths).length).toBeGreaterThan(20)
  expect(() => JSON.stringify(document)).not.toThrow()
})

test("every operation has an id of its own and says how it fails", () => {
  const operations = Object.values(openApiDocument("http://localhost").paths).flatMap((path) => Object.values(path)) as {
    operationId: string
    responses: Record<string, unknown>
  }[]
  const ids = operations.map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { responses } of operations) expect(Object.keys(responses).some((status) => status.startsWith("4"))).toBe(true)
})

const findRoutes = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? findRoutes(path) : entry.name === "route.ts" ? [path] : []
  })
