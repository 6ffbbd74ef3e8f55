import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { CarriedConversation } from "../../../lib/contracts/agentctl/archive"
import { packed, putRestore, restored } from "../../support/archives"
import { useDaemon } from "../../support/use-daemon"

const daemon = useDaemon()

const carried = (as: string, script: string): CarriedConversation => ({
  as,
  command: { file: "/bin/sh", args: ["-c", script, "sh", "{file}"], env: { KEY: "a-secret-key" } },
})
/** A session with a file in it, and the folder of an agent that keeps its conversations where no file can be named. */
async function workspace() {
  const path = (await daemon.putSession("sess_a")).workspace_path
  writeFileSync(join(path, "work.txt"), "work")
  const store = join(daemon.dataDir, "agent-store")
  mkdirSync(store)
  return { path, store, spec: { kind: "folder" as const, path } }
}

test("a conversation that only the agent can give goes into the archive by its command, and back by another, in the restored workspace", async () => {
  const { path, store, spec } = await workspace()
  writeFileSync(join(store, "talk"), "what was said")
  const archive = await packed(daemon, "sess_a", "arc_1", { agent_exports: [carried("talk.json", `cat '${store}/talk'`)] })
  expect(archive).toMatchObject({ state: "packed", left_out: [] })
  rmSync(path, { recursive: true })
  rmSync(join(store, "talk"))
  const agent_imports = [carried("talk.json", `cp "$1" '${store}/talk'; pwd -P > '${store}/where'; cat work.txt >> '${store}/where'`)]
  expect(await restored(daemon, "sess_a", "arc_1", putRestore(spec, archive, { agent_imports }))).toMatchObject({
    state: "restored",
    notes: [],
  })
  expect(readFileSync(join(store, "talk"), "utf8")).toBe("what was said")
  expect(readFileSync(join(store, "where"), "utf8")).toBe(`${path}\nwork`)
})

test("a command that fails, says nothing or does not exist is named, and the rest is there", async () => {
  const { path, spec } = await workspace()
  const missing = { as: "missing.json", command: { file: "/nowhere/agent", args: [], env: {} } }
  const archive = await packed(daemon, "sess_a", "arc_1", {
    agent_exports: [carried("fails.json", "echo half; exit 3"), carried("silent.json", "true"), missing, carried("good.json", "echo good")],
  })
  expect(archive.state).toBe("packed")
  const names = ["fails", "silent", "missing"].map((name) => ({ path: `agent/${name}.json`, files: null }))
  expect(archive.left_out).toEqual([{ reason: "agent_command", count: 3, bytes: null, names }])
  rmSync(path, { recursive: true })
  const agent_imports = [carried("good.json", 'echo "not today, $KEY" >&2; exit 4'), carried("fails.json", "exit 5")]
  const back = await restored(daemon, "sess_a", "arc_1", putRestore(spec, archive, { agent_imports }))
  expect(back.state).toBe("restored")
  // What was never in the archive is not asked back, and a key is in nobody's notes.
  expect(back.notes).toEqual(["The agent did not take its conversation back: it ended with 4: not today, •••"])
  expect(readFileSync(join(path, "work.txt"), "utf8")).toBe("work")
})
