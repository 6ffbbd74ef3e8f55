import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { git, packed, putRestore, restored } from "../../support/archives"
import { fileCalls } from "../../support/daemon-files"
import { PtyStream, putPty, type } from "../../support/ptys"
import { useDaemon } from "../../support/use-daemon"

/** Neither that of the tests nor the daemon's own. */
const daemon = useDaemon({ per: "file", end: "stop", args: ["--umask", "002"] })

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const umaskOf = (pid: number | null) => /^Umask:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]

test("an agent and a terminal have the umask of users", async () => {
  const { agent } = await daemon.ready("sess_agent")
  expect(umaskOf(agent.pid)).toBe("0002")
  const { body } = await putPty(daemon, "sess_agent", "wrk_1")
  const stream = new PtyStream(daemon, "sess_agent", "wrk_1")
  await stream.until("ready> ")
  await type(daemon, "sess_agent", "wrk_1", body.epoch, "umask; touch made-in-terminal; echo do''ne\n")
  expect(await stream.until("done")).toContain("0002")
  stream.close()
  expect(modeOf(join(daemon.dataDir, "workspaces/sess_agent/made-in-terminal"))).toBe("664")
})

test("what an agent writes through the protocol has the modes of users", async () => {
  await daemon.ready("sess_write")
  const events = daemon.events("sess_write")
  await daemon.prompt("sess_write", "prm_1", "write deep/er/note.txt hello")
  await events.until("turn.ended")
  const workspace = join(daemon.dataDir, "workspaces/sess_write")
  expect([modeOf(join(workspace, "deep/er")), modeOf(join(workspace, "deep/er/note.txt"))]).toEqual(["775", "664"])
  chmodSync(join(workspace, "deep/er/note.txt"), 0o755)
  await daemon.prompt("sess_write", "prm_2", "write deep/er/note.txt again")
  await events.until("turn.ended", ({ prompt_id }) => prompt_id === "prm_2")
  expect(modeOf(join(workspace, "deep/er/note.txt"))).toBe("755")
  await events.end()
})

test("git makes workspaces with the modes of users, and what is uploaded into them is readable as before", async () => {
  const repository = join(daemon.dataDir, "a-repository")
  mkdirSync(repository)
  git(repository, "init", "-q", "-b", "main")
  writeFileSync(join(repository, "run.sh"), "#!/bin/sh\n", { mode: 0o755 })
  writeFileSync(join(repository, "plain.txt"), "")
  git(repository, "add", ".")
  git(repository, "commit", "-q", "-m", "base")
  const path = join(daemon.dataDir, "workspaces/1/sess_git")
  await daemon.putSession("sess_git", { kind: "worktree", path, repository, mirror: null, branch: "rewake/one" })
  expect([modeOf(join(path, "..")), modeOf(path)]).toEqual(["775", "775"])
  expect([modeOf(join(path, "run.sh")), modeOf(join(path, "plain.txt"))]).toEqual(["775", "664"])

  const files = fileCalls(daemon, "sess_git")
  expect((await files.put("uploaded.txt", "content")).status).toBe(200)
  expect(modeOf(join(path, "uploaded.txt"))).toBe("644")
  chmodSync(join(path, "run.sh"), 0o755)
  expect((await files.put("run.sh", "#!/bin/sh\necho\n")).status).toBe(200)
  expect(modeOf(join(path, "run.sh"))).toBe("755")

  await daemon.putSession("sess_folder")
  const folder = join(daemon.dataDir, "workspaces/sess_folder")
  expect([modeOf(folder), modeOf(join(folder, ".git/config"))]).toEqual(["775", "664"])
})

test("a restored workspace has the modes it had, and its folders are open as before", async () => {
  await daemon.putSession("sess_back")
  const path = join(daemon.dataDir, "workspaces/sess_back")
  mkdirSync(join(path, "inner"))
  writeFileSync(join(path, "inner/run.sh"), "#!/bin/sh\n", { mode: 0o755 })
  writeFileSync(join(path, "plain.txt"), "", { mode: 0o644 })
  const archive = await packed(daemon, "sess_back", "arc_1")
  await daemon.call("DELETE", "/sessions/sess_back?generation=1")
  expect(await restored(daemon, "sess_back", "arc_1", putRestore({ kind: "folder", path }, archive))).toMatchObject({ state: "restored" })
  expect([modeOf(path), modeOf(join(path, "inner"))]).toEqual(["755", "755"])
  expect([modeOf(join(path, "inner/run.sh")), modeOf(join(path, "plain.txt"))]).toEqual(["755", "644"])
  expect(modeOf(join(path, ".git/config"))).toBe("664")
})

test("the daemon's own files are its owner's only", () => {
  for (const name of ["run", "logs", "sessions", "archives"]) {
    const entries = readdirSync(join(daemon.dataDir, name), { recursive: true, withFileTypes: true })
    expect(entries.length).toBeGreaterThan(0)
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name)
      expect([path, statSync(path).mode & 0o077]).toEqual([path, 0])
    }
  }
})
