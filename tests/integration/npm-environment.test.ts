import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { ofKind } from "../support/events"
import { Rewake } from "../support/server"

const project = mkdtempSync(join(tmpdir(), "rewake-npm-"))
let rewake: Rewake | null = null
afterAll(async () => {
  await rewake?.stop()
  rmSync(project, { recursive: true, force: true })
})

const environmentOf = (pid: number | null | undefined): Record<string, string> =>
  Object.fromEntries(
    readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  )

test("an agent of a server that npm started has the environment from before npm", async () => {
  const before = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: project, EDITOR: "ed" }
  const script = `node -e "console.log(JSON.stringify(process.env))"`
  writeFileSync(join(project, "package.json"), JSON.stringify({ scripts: { show: script } }))
  const said = execFileSync("npm", ["run", "-s", "show"], { cwd: project, env: before as unknown as NodeJS.ProcessEnv, encoding: "utf8" })
  const { PWD: _, ...given } = JSON.parse(said) as Record<string, string>
  expect(given.PATH).toContain(`${project}/node_modules/.bin`)
  expect(given).toMatchObject({ NODE: expect.any(String), COLOR: expect.any(String), INIT_CWD: project })

  rewake = await Rewake.start({ env: given })
  const { session } = await rewake.createTask("remember plum")
  const env = environmentOf(ofKind(await rewake.waitForRuns(session.id, 1), "agent.started")[0]?.pid)
  expect(env).toMatchObject(before)
  for (const name of Object.keys(env)) expect(name).not.toMatch(/^(npm_.*|INIT_CWD|NODE|COLOR)$/)
})
