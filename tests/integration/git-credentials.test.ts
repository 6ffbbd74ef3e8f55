import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { PutGitCredential } from "../../lib/contracts/people"
import type { SessionView } from "../../lib/contracts/task"
import { createGitCredentials } from "../../server/git-credentials"
import { realClock } from "../../server/platform/clock"
import { ofKind } from "../support/events"
import { archiveTask } from "../support/expiry"
import { exported, imported, pack, unpack } from "../support/exports"
import { type GitServer, startGitServer } from "../support/git-http-server"
import { createStore, openJournalOver } from "../support/journal"
import { DATABASES, Rewake } from "../support/server"
import { readRows, runSql } from "../support/sql"
import { waitUntil } from "../support/wait-until"

const TOKEN = "planted-git-token-4f1d"
const USER = "some-user"

describe.each(DATABASES)("saved git credentials, on %s", (database) => {
  test("are sealed for their user and host, listed without their secret, replaced, sealed again and removed", async () => {
    const { store, drop } = await createStore(database)
    const { journal, db, close } = await openJournalOver(store)
    const credentialsWith = (...secrets: [string, ...string[]]) => createGitCredentials({ db, journal, clock: realClock, secrets })
    try {
      const credentials = credentialsWith("the-old-secret")
      await credentials.put("usr_1", { host: "git.example.org:443", username: "u", secret: "replaced" })
      await credentials.put("usr_1", { host: "git.example.org", username: USER, secret: TOKEN })
      expect(await credentials.list("usr_1")).toEqual([{ host: "git.example.org", username: USER, updated_at: expect.any(String) }])
      const wanted = { protocol: "https", host: "git.example.org", username: USER, secret: TOKEN }
      expect(await credentials.forUrl("usr_1", "https://GIT.example.org/a.git")).toEqual(wanted)
      expect(await credentials.forUrl("usr_2", "https://git.example.org/a.git")).toBeNull()
      for (const url of [
        "http://git.example.org/a.git",
        "https://git.example.org:8443/a",
        "https://example.org/a",
        "ssh://git@git.example.org/a",
        "/srv/a",
      ])
        expect(await credentials.forUrl("usr_1", url)).toBeNull()
      expect(JSON.stringify(await db.gitCredential.findMany())).not.toContain(TOKEN)

      await expect(credentialsWith("another").forUrl("usr_1", "https://git.example.org/a")).rejects.toMatchObject({ code: "NOT_READY" })
      const resealed = await credentialsWith("new", "the-old-secret").resealed()
      expect(resealed).toHaveLength(1)
      await journal.write(resealed)
      expect(await credentialsWith("new").forUrl("usr_1", "https://git.example.org/a.git")).toEqual(wanted)

      for (const bad of [{ host: "a/b" }, { host: "u@a" }, { host: "" }, { username: "two\nlines" }, { secret: "two\nhost=evil" }])
        expect(PutGitCredential.safeParse({ host: "a", username: "u", secret: "s", ...bad }).success).toBe(false)
      await expect(credentials.remove("usr_2", "git.example.org")).rejects.toMatchObject({ code: "NOT_FOUND" })
      await credentials.remove("usr_1", "git.example.org")
      expect(await credentials.list("usr_1")).toEqual([])
    } finally {
      await close()
      await drop()
    }
  })
})

describe("a repository that asks for a password", () => {
  let rewake: Rewake
  let server: GitServer
  let home: string
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "rewake-home-"))
    server = await startGitServer({ username: USER, password: TOKEN })
    rewake = await Rewake.start({ env: { HOME: home, XDG_CONFIG_HOME: home } })
  })
  afterAll(async () => {
    await rewake?.stop()
    await server?.stop()
    rmSync(home, { recursive: true, force: true })
  })
  afterEach(async () => {
    server.redirectAll(null)
    server.whileGitRuns(() => {})
    server.requests.length = 0
    rmSync(join(home, ".gitconfig"), { force: true })
    rmSync(join(rewake.dataDir, "repositories"), { recursive: true, force: true })
    await runSql(rewake.sqlPlace(), "DELETE FROM git_credentials")
  })

  async function save(credential: { secret?: string } = {}) {
    const saved = { host: server.host, username: USER, secret: TOKEN, ...credential }
    expect((await rewake.api("PUT", "/api/v1/me/git-credentials", saved)).status).toBe(204)
    const { items } = (await rewake.api<{ items: object[] }>("GET", "/api/v1/me/git-credentials")).body
    expect(items).toEqual([{ host: server.host, username: USER, updated_at: expect.any(String) }])
  }
  const codeTask = (message: string, repository = server.url) => rewake.createTask(message, { type: "code", repository })
  const failureOf = async (sessionId: string) => {
    const log = await rewake.waitForEvent(sessionId, (event) => event.kind === "executor.error", "the failure")
    return ofKind(log, "executor.error").at(-1)?.message
  }
  const filesWithToken = () =>
    readdirSync(rewake.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.parentPath.includes("/bin/"))
      .map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
      .filter(({ entry, path }) => path.includes(TOKEN) || (entry.isFile() && existsSync(path) && readFileSync(path).includes(TOKEN)))
      .map(({ path }) => path)

  test("is cloned with what was saved, and the secret is in no file, export, config, log or command line", async () => {
    await save()
    const commandLines: string[] = []
    server.whileGitRuns(() => {
      for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
        try {
          commandLines.push(readFileSync(`/proc/${pid}/cmdline`, "utf8"))
        } catch {
          // It has ended meanwhile.
        }
      }
    })
    const { task, session } = await codeTask("read first.txt")
    expect(JSON.stringify(await rewake.waitForRuns(session.id, 1))).not.toContain(TOKEN)
    expect((await rewake.session(session.id)).status).not.toBe("error")
    expect(commandLines.filter((line) => line.includes("remote-http")).length).toBeGreaterThan(0)
    expect(commandLines.filter((line) => line.includes(TOKEN))).toEqual([])
    expect(filesWithToken()).toEqual([])
    expect((await exported(rewake, session.id)).includes(TOKEN)).toBe(false)
    expect(rewake.output).not.toContain(TOKEN)
    expect(statSync(join(rewake.dataDir, "repositories")).mode & 0o777).toBe(0o700)

    // A further session begins with what the server has got since.
    server.commit("second.txt")
    const { body: second } = await rewake.api<SessionView>("POST", `/api/v1/tasks/${task.id}/sessions`, {})
    await rewake.append(task.id, "read second.txt", { session_id: second.id })
    await rewake.waitForRuns(second.id, 1)
    const [place] = await readRows(rewake.sqlPlace(), "SELECT worktree_path FROM executors_running WHERE session_id = ?", [second.id])
    expect(readFileSync(join(String(place?.worktree_path), "second.txt"), "utf8")).toBe("second.txt")
    expect(filesWithToken()).toEqual([])
  })

  test("is cloned again with it when a task is restored after the mirror was lost", async () => {
    await save()
    const { task, session } = await codeTask("write kept.txt kept")
    await rewake.waitForRuns(session.id, 1)
    await archiveTask(rewake, task.id, session.id)
    rmSync(join(rewake.dataDir, "repositories"), { recursive: true })
    expect((await rewake.api("POST", `/api/v1/tasks/${task.id}/restore`, { message: "read kept.txt" })).status).toBe(200)
    const log = await rewake.waitForRuns(session.id, 2)
    expect(ofKind(log, "archive.restored")).toHaveLength(1)
    expect(filesWithToken()).toEqual([])
  })

  test("that nothing was saved for, or something wrong, fails with what to do", async () => {
    const { session } = await codeTask("help")
    expect(await failureOf(session.id)).toBe(
      `${server.host} asks for a user name and password. Save them under Settings, Git credentials, then retry.`,
    )
    await save({ secret: "a-wrong-token" })
    const wrong = await codeTask("help")
    expect(await failureOf(wrong.session.id)).toBe(
      `${server.host} refused the saved user name and password. Save new ones under Settings, Git credentials, then retry.`,
    )
    await save()
    await rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, {})
    await rewake.waitForRuns(session.id, 1)
  })

  test("that leads to another server does not give it the password", async () => {
    await save()
    const other = await startGitServer({ username: USER, password: TOKEN })
    try {
      server.redirectAll(`http://${other.host}`)
      const { session } = await codeTask("help")
      expect(await failureOf(session.id)).toContain("under Settings, Git credentials")
      expect(other.requests.length).toBeGreaterThan(0)
      expect(other.requests.filter(({ authorization }) => authorization !== undefined)).toEqual([])
    } finally {
      await other.stop()
    }
  })

  test("is cloned with the user's own helper where nothing was saved; what was saved is not given to that helper", async () => {
    const [helper, told] = [join(home, "helper.sh"), join(home, "told")]
    writeFileSync(helper, `#!/bin/sh\necho "$1" >> ${told}\n[ "$1" = get ] && printf 'username=${USER}\\npassword=${TOKEN}\\n'\nexit 0\n`)
    chmodSync(helper, 0o755)
    writeFileSync(join(home, ".gitconfig"), `[credential]\n\thelper = ${helper}\n`)
    const { session } = await codeTask("help")
    await rewake.waitForRuns(session.id, 1)
    expect(readFileSync(told, "utf8")).toContain("get")

    rmSync(told)
    rmSync(join(rewake.dataDir, "repositories"), { recursive: true })
    await save()
    const saved = await codeTask("help")
    await rewake.waitForRuns(saved.session.id, 1)
    expect(existsSync(told)).toBe(false)
  })

  test("is refused with a password in its URL: in a new task, in a task of an earlier version, in an import", async () => {
    const url = server.url.replace("http://", `http://${USER}:${TOKEN}@`)
    const refused = await rewake.api("POST", "/api/v1/tasks", { message: "help", type: "code", repository: url })
    expect(refused).toMatchObject({
      status: 400,
      body: {
        code: "INVALID_INPUT",
        message: "Remove the user name and password from the URL, and save them under Settings, Git credentials.",
      },
    })
    expect(JSON.stringify(refused.body)).not.toContain(TOKEN)

    await save()
    const { task, session } = await codeTask("help")
    await rewake.waitForRuns(session.id, 1)
    await runSql(rewake.sqlPlace(), "UPDATE tasks SET repository = ? WHERE id = ?", [url, task.id])
    const { body: second } = await rewake.api<SessionView>("POST", `/api/v1/tasks/${task.id}/sessions`, {})
    await rewake.append(task.id, "help", { session_id: second.id })
    expect(await failureOf(second.id)).toContain("Create a new task with the URL without them")

    const { files } = await unpack(await exported(rewake, session.id))
    expect(JSON.stringify(files)).not.toContain(TOKEN)
    expect((await rewake.api("DELETE", `/api/v1/tasks/${task.id}`)).status).toBe(204)
    const rowsOfTask = () => readRows(rewake.sqlPlace(), "SELECT id FROM tasks WHERE id = ?", [task.id])
    await waitUntil(async () => (await rowsOfTask()).length === 0, "the task to be gone")
    const entries = Object.entries(files).map(([name, text]) => [name, Buffer.from(text.replace(server.url, url))])
    const result = await imported(rewake, pack(Object.fromEntries(entries)))
    expect(result.status).toBe(201)
    expect(JSON.stringify(result.body)).toContain(`The repository ${server.url} cannot be used here`)
    expect(JSON.stringify(await readRows(rewake.sqlPlace(), "SELECT repository FROM tasks"))).not.toContain(TOKEN)
  })
})
