import { readFileSync } from "node:fs"
import { join } from "node:path"

export const ADMIN = { email: "admin@example.org", password: "correct horse battery" }

/** What test servers start from; `tests/support/make-template.ts` makes it. */
export type Template = { file: string; token: string; postgresql: { name: string; token: string } | null }

export function readTemplate(): Template {
  const folder = process.env.REWAKE_TEST_TEMPLATE
  if (!folder) throw new Error("REWAKE_TEST_TEMPLATE is not set: run this through npm test, npm run bench or npm run torture")
  return JSON.parse(readFileSync(join(folder, "template.json"), "utf8")) as Template
}
