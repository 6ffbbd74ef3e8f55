import { existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ATTACHMENT_MAX_BYTES, type Attachment } from "../../lib/contracts/attachments"
import type { EventOf, SessionEvent } from "../../lib/contracts/events"
import type { AppendResult, QueuedPrompt } from "../../lib/contracts/task"
import { attach, DOT, pictureOf, sha256, upload } from "../support/attachments"
import { agentText, DATABASES, Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"

const of = <K extends SessionEvent["kind"]>(log: readonly SessionEvent[], kind: K) =>
  log.filter((event): event is EventOf<K> => event.kind === kind)

describe.each(DATABASES)("pictures and files in messages, on %s", (database) => {
  let rewake: Rewake
  let other: string
  beforeAll(async () => {
    rewake = await Rewake.start({ database })
    const invited = await rewake.api<{ link: string }>("POST", "/api/v1/admin/invitations", { email: "eve@example.org" })
    const code = new URL(invited.body.link).searchParams.get("code")
    await rewake.as("")("POST", "/api/v1/invitations/accept", { code, name: "Eve", password: "a long password" })
    other = await rewake.issueToken("eve@example.org")
  })
  afterAll(() => rewake?.stop())

  const append = (taskId: number, body: object) =>
    rewake.api<AppendResult & { code?: string; message?: string }>("POST", `/api/v1/tasks/${taskId}/append`, body)
  const download = (id: string, token = rewake.token) =>
    fetch(`${rewake.url}/api/v1/attachments/${id}`, { headers: { authorization: `Bearer ${token}` } })

  test("a picture and a text reach an agent that takes them, byte for byte", async () => {
    const picture = pictureOf(300_000)
    const shot = await attach(rewake, "shot.png", picture, "text/html")
    expect(shot).toEqual({
      id: expect.stringMatching(/^att_/),
      name: "shot.png",
      mime_type: "image/png",
      bytes: 300_000,
      sha256: sha256(picture),
    })
    const text = Buffer.from("# Notes\n\u0007 grüße ✓\n")
    const notes = await attach(rewake, "notes.md", text, "text/markdown")
    const blob = Buffer.from([0, 1, 2, 255, 254])
    const data = await attach(rewake, "data.bin", blob)
    const { session } = await rewake.createTask("look", { attachments: [shot.id, notes.id, data.id] })
    const log = await rewake.waitForRuns(session.id, 1)
    expect(agentText(log)).toContain(`picture \`shot.png\`, image/png, 300000 bytes, sha256 ${sha256(picture)}`)
    expect(agentText(log)).toContain(`text \`notes.md\`, text/markdown, ${text.length} bytes, sha256 ${sha256(text)}`)
    expect(agentText(log)).toContain(`link \`data.bin\`, application/octet-stream, 5 bytes, sha256 ${sha256(blob)}`)
    expect(of(log, "message.user")[0]?.attachments).toEqual([shot, notes, data])
    expect(JSON.stringify(log).length).toBeLessThan(100_000)
  })

  test("an agent that takes no pictures is given files it can read, which go with the session", async () => {
    const shot = await attach(rewake, "../my shot.png", DOT)
    const { task, session } = await rewake.createTask("", { attachments: [shot.id], agent: "demo-inject" })
    expect(task.title).toBe("my shot.png")
    const log = await rewake.waitForRuns(session.id, 1)
    expect(agentText(log)).toContain(`link \`my_shot.png\`, image/png, ${DOT.length} bytes, sha256 ${sha256(DOT)}`)
    const folder = join(rewake.dataDir, "sessions", `${session.id}.attachments`)
    const file = join(folder, sha256(DOT).slice(0, 16), "my_shot.png")
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(folder).mode & 0o777).toBe(0o700)

    // Injected history names it: the next process has not seen it.
    await rewake.api("POST", `/api/v1/sessions/${session.id}/stop`, {})
    await rewake.waitForEvent(session.id, (event) => event.kind === "agent.exited", "the agent's end")
    await rewake.append(task.id, "recall")
    await rewake.waitForRuns(session.id, 2)
    expect(existsSync(file)).toBe(true)

    await rewake.api("DELETE", `/api/v1/tasks/${task.id}`)
    await waitUntil(() => !readdirSync(join(rewake.dataDir, "sessions")).some((name) => name.startsWith(session.id)), "its files to go")
    await waitUntil(async () => (await download(shot.id)).status === 404, "its bytes to go")
  })

  test("its bytes are answered to whom they belong, and only pictures are shown", async () => {
    const shot = await attach(rewake, 'a "b".png', DOT)
    const page = await attach(rewake, "page.html", Buffer.from("<script>1</script>"), "text/html")
    const drawing = await attach(rewake, "x.svg", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"), "image/svg+xml")
    const shown = await download(shot.id)
    expect(Buffer.from(await shown.arrayBuffer())).toEqual(DOT)
    expect(shown.headers.get("content-type")).toBe("image/png")
    expect(shown.headers.get("content-disposition")).toBe("inline; filename*=UTF-8''a%20%22b%22.png")
    for (const { id } of [page, drawing]) {
      const { headers } = await download(id)
      expect(headers.get("content-type")).toBe("application/octet-stream")
      expect(headers.get("content-disposition")).toMatch(/^attachment;/)
      expect(headers.get("x-content-type-options")).toContain("nosniff")
      expect(headers.get("content-security-policy")).toContain("sandbox")
    }
    expect((await download(shot.id, other)).status).toBe(404)
    expect((await download(shot.id, "")).status).toBe(401)
    expect((await download("att_none")).status).toBe(404)
  })

  test("what is too large, too much, foreign, unknown or sent already is refused by name, and nothing is written", async () => {
    const { task, session } = await rewake.createTask("remember nothing")
    await rewake.waitForRuns(session.id, 1)
    const before = await rewake.events(session.id)

    expect(await upload(rewake, "big", pictureOf(ATTACHMENT_MAX_BYTES + 1))).toMatchObject({
      status: 413,
      body: { code: "PAYLOAD_TOO_LARGE" },
    })
    const largest = await Promise.all(Array.from({ length: 5 }, (_, i) => attach(rewake, `${i}.png`, pictureOf(ATTACHMENT_MAX_BYTES - i))))
    expect(await append(task.id, { message: "all", attachments: largest.map(({ id }) => id) })).toMatchObject({ status: 413 })

    const small = await Promise.all(Array.from({ length: 11 }, (_, i) => attach(rewake, `${i}`, Buffer.from([i]))))
    expect(await append(task.id, { message: "all", attachments: small.map(({ id }) => id) })).toMatchObject({ status: 400 })
    expect(await append(task.id, { message: "", attachments: [] })).toMatchObject({ status: 400 })

    const foreign = (await upload(rewake, "theirs", DOT, { token: other })).body.attachment
    const [mine] = small as [Attachment]
    const refused = await append(task.id, { message: "x", attachments: [mine.id, foreign.id, "att_unknown"] })
    expect(refused).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } })
    expect(refused.body.message).toContain(foreign.id)
    expect(refused.body.message).toContain("att_unknown")
    expect(refused.body.message).not.toContain(mine.id)
    expect(await rewake.events(session.id)).toEqual(before)

    await append(task.id, { message: "look", attachments: [mine.id] })
    const again = await append(task.id, { message: "look", attachments: [mine.id] })
    expect(again).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } })
    const [, second] = small as [Attachment, Attachment]
    const race = await Promise.all([
      append(task.id, { message: "look", attachments: [second.id] }),
      rewake.api("POST", "/api/v1/tasks", { message: "look", attachments: [second.id] }),
      append(task.id, { message: "look", attachments: [second.id] }),
    ])
    expect(race.map(({ status }) => (status < 300 ? "taken" : status)).sort()).toEqual([400, 400, "taken"])
  })

  test("the same client_message_id with the same attachments is the same message; with others it is a mistake", async () => {
    const { task, session } = await rewake.createTask("hang")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the agent to be busy")
    const [one, two] = [await attach(rewake, "1.png", DOT), await attach(rewake, "2.png", DOT)]
    const message = { message: "look", attachments: [one.id], client_message_id: "c1" }
    const [first, second] = await Promise.all([append(task.id, message), append(task.id, message)])
    expect([first.status, second.status]).toEqual([202, 202])
    expect(second.body.prompt_id).toBe(first.body.prompt_id)
    for (const attachments of [[two.id], [one.id, two.id], []])
      expect(await append(task.id, { ...message, attachments })).toMatchObject({ status: 409, body: { code: "IDEMPOTENCY_CONFLICT" } })
    expect((await append(task.id, { message: "other", attachments: [two.id] })).status).toBe(202)
    await rewake.api("POST", `/api/v1/sessions/${session.id}/cancel`, {})
    await rewake.waitForRuns(session.id, 3)
  })

  test("a queued message shows what it brings, keeps it when it is edited, and brings it", async () => {
    const { task, session } = await rewake.createTask("hang")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the agent to be busy")
    const shot = await attach(rewake, "shot.png", DOT)
    const { prompt_id } = (await append(task.id, { message: "what?", attachments: [shot.id] })).body
    const path = `/api/v1/sessions/${session.id}/queue`
    expect((await rewake.api<{ prompts: QueuedPrompt[] }>("GET", path)).body.prompts).toMatchObject([{ attachments: [shot] }])
    const edited = await rewake.api<{ prompts: QueuedPrompt[] }>("PATCH", `${path}/${prompt_id}`, { message: "" })
    expect(edited.body.prompts).toMatchObject([{ message: "", attachments: [shot] }])
    const bare = (await append(task.id, { message: "recall" })).body.prompt_id
    expect((await rewake.api("PATCH", `${path}/${bare}`, { message: "" })).status).toBe(400)
    await rewake.api("POST", `/api/v1/sessions/${session.id}/cancel`, {})
    expect(agentText(await rewake.waitForRuns(session.id, 3))).toContain(`sha256 ${sha256(DOT)}`)
  })

  test("[1, 2] the server is killed between a message and its delivery: it arrives once, with its picture", async () => {
    const { task, session } = await rewake.createTask("hang")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the agent to be busy")
    const picture = pictureOf(2_000_000)
    const shot = await attach(rewake, "shot.png", picture)
    const draft = await attach(rewake, "draft.png", DOT)
    await append(task.id, { message: "look", attachments: [shot.id] })
    await rewake.kill9()
    await rewake.boot()
    await rewake.api("POST", `/api/v1/sessions/${session.id}/cancel`, {})
    const log = await rewake.waitForRuns(session.id, 2)
    expect(agentText(log).split(sha256(picture))).toHaveLength(2)
    // What was not yet sent is still there to be.
    expect((await append(task.id, { message: "look", attachments: [draft.id] })).status).toBe(202)
    expect(agentText(await rewake.waitForRuns(session.id, 3))).toContain(sha256(DOT))
  })
})
