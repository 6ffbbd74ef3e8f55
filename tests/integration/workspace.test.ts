import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { SessionView, TaskView } from "../../lib/contracts/task"
import { type Changes, type CommentView, type FileDiff, type FolderListing, MAX_UPLOAD_BYTES } from "../../lib/contracts/workspace"
import { openDatabase } from "../../server/platform/database"
import { archiveTask } from "../support/expiry"
import { Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"

describe("files, changes and comments", () => {
  let rewake: Rewake
  let task: TaskView
  let session: SessionView
  let root: string
  let stranger: string

  beforeAll(async () => {
    rewake = await Rewake.start({ database: "postgresql", env: { MAX_MESSAGE_BYTES: "4000" } })
    ;({ task, session } = await rewake.createTask("write hello.txt one"))
    await rewake.waitForRuns(session.id, 1)
    const status = await rewake.api<{ worktree_path: string }>("GET", `/api/v1/sessions/${session.id}/status`)
    root = status.body.worktree_path
    const { body } = await rewake.api<{ link: string }>("POST", "/api/v1/admin/invitations", { email: "other@example.org", role: "user" })
    const code = new URL(body.link).searchParams.get("code")
    await rewake.api("POST", "/api/v1/invitations/accept", { code, password: "another long password" })
    stranger = await rewake.issueToken("other@example.org")
  })
  afterAll(() => rewake?.stop())

  const at = (path: string, query: Record<string, string> = {}) =>
    `/api/v1/sessions/${session.id}/${path}${Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : ""}`
  const get = <T>(path: string, query: Record<string, string> = {}) => rewake.api<T>("GET", at(path, query))
  const raw = (method: string, query: Record<string, string>, init: { headers?: Record<string, string>; body?: BodyInit } = {}) =>
    fetch(`${rewake.url}${at("file", query)}`, {
      method,
      ...(init.body === undefined ? {} : { body: init.body }),
      headers: { authorization: `Bearer ${rewake.token}`, ...init.headers },
    })

  test("another's session has no files, changes or comments: every call answers 404", async () => {
    const other = rewake.as(stranger)
    const calls: [string, string, unknown?][] = [
      ["GET", at("files")],
      ["GET", at("file", { path: "hello.txt" })],
      ["PUT", at("file", { path: "hello.txt" }), "mine now"],
      ["GET", at("diff")],
      ["GET", at("diff", { path: "hello.txt", of: "untracked" })],
      ["GET", at("comments")],
      ["POST", at("comments"), { path: "hello.txt", side: "new", line: 1, line_text: "one", content: "x" }],
      ["PATCH", at("comments/cmt_x"), { content: "x" }],
      ["DELETE", at("comments/cmt_x")],
      ["POST", at("comments/send"), { client_message_id: "x" }],
    ]
    for (const [method, path, body] of calls) {
      const answer = await other(method, path, body)
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 404, "NOT_FOUND"])
    }
    expect(readFileSync(join(root, "hello.txt"), "utf8")).toBe("one")
    const socket = rewake.socket(stranger)
    await new Promise<void>((resolve) => socket.on("connect", () => resolve()))
    expect(await socket.emitWithAck("workspace.watch", { session_id: session.id })).toMatchObject({ error: { code: "NOT_FOUND" } })
    expect((await fetch(`${rewake.url}${at("files")}`)).status).toBe(401)
  })

  test("what the agent wrote is listed, read, and shown as a change, while no agent is asked", async () => {
    const listing = await get<FolderListing>("files")
    expect(listing.body.entries).toMatchObject([{ name: "hello.txt", kind: "file", bytes: 3 }])
    const changes = await get<Changes>("diff")
    expect(changes.body).toMatchObject({ branch: "main", untracked: [{ path: "hello.txt", added: 1 }], commits: [] })
    expect((await get<FileDiff>("diff", { path: "hello.txt", of: "untracked" })).body.diff).toContain("+one\n")
    expect((await get("diff", { path: "hello.txt" })).status).toBe(400)
    expect((await get("diff", { path: "hello.txt", of: "everything" })).status).toBe(400)
  })

  test("a file is answered as plain text, as a picture or for saving; never as a page of this server", async () => {
    const types: Record<string, string> = {
      "page.html": "text/plain; charset=utf-8",
      "drawing.svg": "text/plain; charset=utf-8",
      "script.js": "text/plain; charset=utf-8",
      "doc.xhtml": "text/plain; charset=utf-8",
      "photo.PNG": "image/png",
    }
    for (const [name, type] of Object.entries(types)) {
      writeFileSync(join(root, name), "<script>alert(1)</script>")
      const answer = await raw("GET", { path: name })
      expect([name, answer.status, answer.headers.get("content-type")]).toEqual([name, 200, type])
      expect(answer.headers.get("x-content-type-options")).toContain("nosniff")
      const saved = await raw("GET", { path: name, download: "1" })
      expect(saved.headers.get("content-type")).toBe("application/octet-stream")
      expect(saved.headers.get("content-disposition")).toBe(`attachment; filename*=UTF-8''${name}`)
      expect(await saved.text()).toBe("<script>alert(1)</script>")
      rmSync(join(root, name))
    }
    writeFileSync(join(root, 'a "b"\n.txt'), "x")
    expect((await raw("GET", { path: 'a "b"\n.txt', download: "1" })).headers.get("content-disposition")).toContain("a%20%22b%22%0A.txt")
    rmSync(join(root, 'a "b"\n.txt'))
  })

  test("a range is a range through every hop", async () => {
    writeFileSync(join(root, "numbers"), "0123456789")
    const part = await raw("GET", { path: "numbers" }, { headers: { range: "bytes=2-4" } })
    expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([206, "bytes 2-4/10", "234"])
    expect((await raw("GET", { path: "numbers" }, { headers: { range: "bytes=10-" } })).status).toBe(416)
    rmSync(join(root, "numbers"))
  })

  test("what is outside stays outside, said by its code", async () => {
    writeFileSync(join(rewake.dataDir, "secret.txt"), "secret")
    symlinkSync(join(rewake.dataDir, "secret.txt"), join(root, "leak"))
    for (const path of ["../../secret.txt", "/etc/passwd", "leak", ".git/config"]) {
      expect([(await get("file", { path })).body]).toMatchObject([{ code: "PATH_REFUSED" }])
      expect((await raw("PUT", { path }, { body: "x" })).status).toBe(422)
    }
    expect((await get("file", { path: "nothing" })).body).toMatchObject({ code: "NOT_FOUND", entity: "file" })
    rmSync(join(root, "leak"))
  })

  test("an upload arrives byte by byte, asks before it replaces, and is limited", async () => {
    const content = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * 31) % 256))
    const made = await raw("PUT", { path: "blob" }, { body: content, headers: { "if-none-match": "*" } })
    expect([made.status, await made.json()]).toMatchObject([200, { bytes: content.length, created: true }])
    expect(readFileSync(join(root, "blob")).equals(content)).toBe(true)
    const again = await raw("PUT", { path: "blob" }, { body: "new", headers: { "if-none-match": "*" } })
    const conflict = (await again.json()) as { code: string; reason: string; etag: string }
    expect([again.status, conflict]).toMatchObject([409, { code: "FILE_CONFLICT", reason: "exists" }])
    writeFileSync(join(root, "blob"), "the agent was faster")
    const late = await raw("PUT", { path: "blob" }, { body: "new", headers: { "if-match": conflict.etag } })
    expect([late.status, await late.json()]).toMatchObject([409, { code: "FILE_CONFLICT", reason: "changed" }])
    const large = await raw("PUT", { path: "blob" }, { body: new Uint8Array(MAX_UPLOAD_BYTES + 1) as BodyInit })
    expect([large.status, await large.json()]).toMatchObject([413, { code: "PAYLOAD_TOO_LARGE", limit_bytes: MAX_UPLOAD_BYTES }])
    expect(readFileSync(join(root, "blob"), "utf8")).toBe("the agent was faster")
    rmSync(join(root, "blob"))
  })

  test("comments are drafts until they are sent as one message, once, and are told apart by then", async () => {
    const write = async (line: number, content: string) =>
      (await rewake.api<CommentView>("POST", at("comments"), { path: "hello.txt", side: "new", line, line_text: "one", content })).body
    const first = await write(1, "call it two")
    const second = await write(2, "drop this\0")
    expect((await rewake.api("PATCH", at(`comments/${first.id}`), { content: "call it three" })).status).toBe(200)
    const removed = await write(3, "never mind")
    expect((await rewake.api("DELETE", at(`comments/${removed.id}`))).status).toBe(204)
    expect((await rewake.api("POST", at("comments"), { path: "a", side: "new", line: 0, line_text: "", content: "x" })).status).toBe(400)
    expect((await rewake.api("POST", at("comments"), { path: "a", side: "new", line: 1, line_text: "", content: "  " })).status).toBe(400)

    await rewake.restart()
    const kept = (await get<{ items: CommentView[] }>("comments")).body.items
    expect(kept.map(({ id, content, prompt_id }) => [id, content, prompt_id])).toEqual([
      [first.id, "call it three", null],
      [second.id, "drop this�", null],
    ])

    const send = () => rewake.api<{ prompt_id: string; sent: number }>("POST", at("comments/send"), { client_message_id: "review-1" })
    const answers = await Promise.all([send(), send(), send()])
    expect(answers.map(({ status, body }) => [status, body.sent])).toEqual([
      [202, 2],
      [202, 2],
      [202, 2],
    ])
    expect(new Set(answers.map(({ body }) => body.prompt_id)).size).toBe(1)
    const events = await rewake.waitForRuns(session.id, 2)
    const messages = events.flatMap((event) => (event.kind === "message.user" ? [event.content] : []))
    expect(messages.at(-1)).toBe(
      [
        "I have 2 comments on the changes in the workspace:",
        "hello.txt, line 1\n> one\ncall it three",
        "hello.txt, line 2\n> one\ndrop this�",
      ].join("\n\n"),
    )
    expect(messages).toHaveLength(2)
    const sent = (await get<{ items: CommentView[] }>("comments")).body.items
    expect(sent.every(({ prompt_id }) => prompt_id === answers[0]?.body.prompt_id)).toBe(true)
    expect((await rewake.api("PATCH", at(`comments/${first.id}`), { content: "late" })).body.code).toBe("CONFLICT")
    expect((await rewake.api("POST", at("comments/send"), { client_message_id: "review-2" })).body.code).toBe("CONFLICT")
  })

  test("comments of a message that was withdrawn, or was too long to send, are drafts again", async () => {
    await rewake.append(task.id, "count 2000 20")
    await rewake.api("POST", at("comments"), { path: "hello.txt", side: "old", line: 1, line_text: "one", content: "again" })
    const { body } = await rewake.api<{ prompt_id: string }>("POST", at("comments/send"), { client_message_id: "review-3" })
    expect((await rewake.api("DELETE", at(`queue/${body.prompt_id}`))).status).toBe(204)
    const drafts = async () => (await get<{ items: CommentView[] }>("comments")).body.items.filter(({ prompt_id }) => prompt_id === null)
    expect((await drafts()).map(({ content }) => content)).toEqual(["again"])
    await rewake.api("POST", at("comments"), { path: "hello.txt", side: "new", line: 1, line_text: "", content: "long ".repeat(1000) })
    expect((await rewake.api("POST", at("comments/send"), { client_message_id: "review-4" })).body.code).toBe("PAYLOAD_TOO_LARGE")
    expect(await drafts()).toHaveLength(2)
    await rewake.api("POST", `/api/v1/sessions/${session.id}/cancel`)
    await rewake.waitForRuns(session.id, 3)
  })

  test("whoever watches is told of a change, also after the daemon and after the server were killed", async () => {
    const told: number[] = []
    const socket = rewake.socket()
    socket.on("workspace.changed", () => told.push(Date.now()))
    const watch = () => socket.emitWithAck("workspace.watch", { session_id: session.id })
    const again = new Promise<void>((resolve) => {
      let connects = 0
      socket.on("connect", () => void watch().then(() => ++connects === 2 && resolve()))
    })
    /** Writes until it is told: the watch may be on its way yet. */
    const tellsOf = async (what: string) => {
      const before = told.length
      await waitUntil(() => {
        writeFileSync(join(root, "watched.txt"), String(Math.random()))
        return told.length > before
      }, what)
    }
    await tellsOf("a write")
    rewake.killDaemon()
    await rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, {})
    await waitUntil(async () => (await get("diff")).status === 200, "the daemon to be back")
    await tellsOf("a write after the daemon's return")
    await rewake.restart()
    await again
    await tellsOf("a write after the server's return")
    await socket.emitWithAck("workspace.unwatch", { session_id: session.id })
    mkdirSync(join(root, "quiet"))
    rmSync(join(root, "quiet"), { recursive: true })
  })

  test("a deleted task takes its comments along", async () => {
    const rows = await openDatabase(
      rewake.database.url ? { kind: "postgresql", url: rewake.database.url } : { kind: "sqlite", file: join(rewake.dataDir, "rewake.db") },
    )
    expect(await rows.reviewComment.count()).toBeGreaterThan(0)
    expect((await rewake.api("DELETE", `/api/v1/tasks/${task.id}`)).status).toBe(204)
    await waitUntil(async () => (await rows.session.count()) === 0, "the task to be purged")
    expect(await rows.reviewComment.count()).toBe(0)
    expect(existsSync(root)).toBe(false)
    await rows.$disconnect()
  })
})

test("files of an archived task are answered with a code that says so", async () => {
  const rewake = await Rewake.start()
  try {
    const { task, session } = await rewake.createTask("write kept.txt kept")
    await rewake.waitForRuns(session.id, 1)
    await archiveTask(rewake, task.id, session.id)
    for (const path of ["files", "file?path=kept.txt", "diff"]) {
      const { status, body } = await rewake.api("GET", `/api/v1/sessions/${session.id}/${path}`)
      expect([path, status, body.code]).toEqual([path, 409, "WORKSPACE_PUT_AWAY"])
    }
    expect((await rewake.api("GET", `/api/v1/sessions/${session.id}/comments`)).status).toBe(200)
  } finally {
    await rewake.stop()
  }
})
