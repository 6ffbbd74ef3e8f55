import { chmodSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { ofKind } from "../support/events"
import { useServer } from "../support/use-server"
import { waitUntil } from "../support/wait-until"

const rewake = useServer({ umask: "002", empty: true })
const modeOf = (name: string) => statSync(join(rewake.dataDir, name)).mode & 0o777
const umaskOf = (pid: number | null | undefined) => /^Umask:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
const CORRECTED = "other users of this machine could read files of Rewake; corrected"

test("the server's files are its owner's only, and its agents have the umask it was started with", async () => {
  rewake.token = rewake.cli("token", "--user", "admin@example.org")
  expect(modeOf("rewake.db")).toBe(0o600)
  const { session } = await rewake.createTask("remember plum")
  const agents = ofKind(await rewake.waitForRuns(session.id, 1), "agent.started")
  expect([umaskOf(rewake.child?.pid), umaskOf(rewake.daemon().pid), umaskOf(agents[0]?.pid)]).toEqual(["0077", "0077", "0002"])
  for (const name of readdirSync(rewake.dataDir)) expect([name, modeOf(name) & 0o077]).toEqual([name, 0])
  expect(rewake.output).not.toContain(CORRECTED)

  // A daemon that is launched again is told the same.
  const before = rewake.daemon().pid
  rewake.killDaemon()
  const again = await rewake.createTask("remember fig")
  const started = ofKind(await rewake.waitForRuns(again.session.id, 1), "agent.started")
  await waitUntil(() => rewake.daemon().pid !== before, "another daemon")
  expect(umaskOf(started[0]?.pid)).toBe("0002")
})

test("a start closes what others could read, and says so once", async () => {
  for (const name of [".", "run", "sessions", "logs", "workspaces"]) chmodSync(join(rewake.dataDir, name), 0o755)
  for (const name of ["rewake.db", "run/agentctl.json"]) chmodSync(join(rewake.dataDir, name), 0o644)
  rewake.output = ""
  await rewake.restart()
  for (const name of [".", "run", "sessions", "logs", "workspaces"]) expect([name, modeOf(name)]).toEqual([name, 0o700])
  for (const name of ["rewake.db", "run/agentctl.json"]) expect([name, modeOf(name)]).toEqual([name, 0o600])
  expect(rewake.output.split(CORRECTED)).toHaveLength(2)
  rewake.output = ""
  await rewake.restart()
  expect(rewake.output).not.toContain(CORRECTED)
})
