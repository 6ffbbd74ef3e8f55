import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import type { SessionEvent } from "../../lib/contracts/events"
import type { SessionStatusReport } from "../../lib/contracts/status"
import type { QueuedPrompt } from "../../lib/contracts/task"
import { attach, DOT, sha256 } from "../support/attachments"
import { exported, imported, lines, pack, unpack } from "../support/exports"
import { agentText, DATABASES, Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"

const run = promisify(execFile)
const withoutPlace = ({ session_id: _s, ...event }: SessionEvent) => event

describe.each(DATABASES)("a session travels as files, on %s", (database) => {
  let home: Rewake
  let abroad: Rewake
  beforeAll(async () => {
    ;[home, abroad] = await Promise.all([Rewake.start({ database }), Rewake.start({ database })])
  })
  afterAll(() => Promise.all([home?.stop(), abroad?.stop()]))

  test("what was attached travels with the session; what did not come along is named, and the message keeps its name", async () => {
    const [shot, twin] = [await attach(home, "shot.png", DOT), await attach(home, "twin.png", DOT)]
    const notes = await attach(home, "notes.txt", Buffer.from("some notes"), "text/plain")
    const { task, session } = await home.createTask("look", { attachments: [shot.id, twin.id, notes.id] })
    await home.waitForRuns(session.id, 1)
    const tar = await exported(home, session.id)
    const { folder } = await unpack(tar)
    const names = readdirSync(join(folder, "attachments")).sort()
    expect(names).toEqual([DOT, Buffer.from("some notes")].map(sha256).sort())
    expect(readFileSync(join(folder, "attachments", sha256(DOT)))).toEqual(DOT)
    expect(home.cli("doctor", folder)).not.toContain("missing")

    // The picture is damaged on the way, and lies before the log, as other programs pack a folder.
    const log = `${session.id}.messages.jsonl`
    const damaged = pack({
      [`x/attachments/${sha256(DOT)}`]: Buffer.from("something else"),
      [`x/attachments/${notes.sha256}`]: Buffer.from("some notes"),
      [`x/${session.id}.json`]: readFileSync(join(folder, `${session.id}.json`)),
      [`x/${log}`]: readFileSync(join(folder, log)),
    })
    rmSync(join(folder, "attachments", sha256(DOT)))
    await expect(run(process.execPath, ["dist/cli.mjs", "doctor", folder], { env: home.environment() })).rejects.toMatchObject({
      stdout: expect.stringMatching(/attachments\/[0-9a-f]{64}: (shot|twin)\.png is missing/),
    })
    rmSync(folder, { recursive: true })

    const { status, body } = await imported(abroad, damaged)
    expect(status).toBe(201)
    expect(body.notes.join()).toContain("shot.png, twin.png")
    expect(body.skipped.map(({ reason }) => reason)).toEqual(["malformed", "missing", "missing"])
    const get = (rewake: Rewake, id: string) =>
      fetch(`${rewake.url}/api/v1/attachments/${id}`, { headers: { authorization: `Bearer ${rewake.token}` } })
    expect((await get(abroad, shot.id)).status).toBe(404)
    expect(await (await get(abroad, notes.id)).text()).toBe("some notes")
    const [message] = (await abroad.events(session.id)).filter((event) => event.kind === "message.user")
    expect(message).toMatchObject({ attachments: [shot, twin, notes] })
    await expect(run(process.execPath, ["dist/cli.mjs", "doctor"], { env: abroad.environment() })).rejects.toMatchObject({
      stdout: expect.stringContaining(`attachment ${shot.id} (shot.png) is missing`),
    })
    await abroad.api("DELETE", `/api/v1/tasks/${body.task_id}`)
    await waitUntil(async () => (await get(abroad, notes.id)).status === 404, "the import to be gone")

    const whole = await imported(abroad, tar)
    expect(whole).toMatchObject({ status: 201, body: { notes: [], skipped: [] } })
    for (const { id } of [shot, twin]) expect(Buffer.from(await (await get(abroad, id)).arrayBuffer())).toEqual(DOT)
    await home.api("DELETE", `/api/v1/tasks/${task.id}`)
  })

  test("a log that names somebody else's attachment brings nobody its bytes", async () => {
    const foreign = await attach(abroad, "secret.png", DOT)
    const { session } = await home.createTask("hang")
    await home.waitForEvent(session.id, (event) => event.kind === "message.delta", "the agent to be busy")
    const { folder, files } = await unpack(await exported(home, session.id))
    rmSync(folder, { recursive: true })
    const forged = (files[`${session.id}.messages.jsonl`] ?? "")
      .split("\n")
      .filter((line) => /"(message\.user|prompt\.queued|session\.state_changed)"/.test(line))
      .map((line) => line.replace('"content":"hang"', `"content":"look","attachments":[${JSON.stringify(foreign)}]`))
    const { body } = await imported(
      abroad,
      pack({
        [`${session.id}.messages.jsonl`]: Buffer.from(`${forged.join("\n")}\n`),
        [`${session.id}.json`]: Buffer.from(files[`${session.id}.json`] ?? ""),
        [`attachments/${foreign.sha256}`]: DOT,
      }),
    )
    expect(body.notes.join()).toContain("secret.png")
    const queue = await abroad.api<{ prompts: QueuedPrompt[] }>("GET", `/api/v1/sessions/${session.id}/queue`)
    await abroad.api("PATCH", `/api/v1/sessions/${session.id}/queue/${queue.body.prompts[0]?.prompt_id}`, { held: false })
    const log = await abroad.waitForRuns(session.id, 1)
    expect(agentText(log)).not.toContain(sha256(DOT))
  })

  test("[L0, L3] exported here and imported elsewhere, it continues: same log, and the agent is told what it was told", async () => {
    const { task, session } = await home.createTask("remember walnut", { agent: "demo-inject", title: "A tree" })
    await home.waitForRuns(session.id, 1)
    await home.append(task.id, "write a.txt \u0000 odd \ud800 text")
    const before = await home.waitForRuns(session.id, 2)
    const tar = await exported(home, session.id)

    const { folder, files } = await unpack(tar)
    rmSync(folder, { recursive: true })
    expect(Object.keys(files).sort()).toEqual([`${session.id}.json`, `${session.id}.messages.jsonl`, `${session.id}.tokens.json`])
    const snapshot = JSON.parse(files[`${session.id}.json`] as string)
    expect(snapshot).toMatchObject({ id: session.id, title: "A tree", last_seq: before.at(-1)?.seq, run: null, status: "idle" })

    const answer = await imported(abroad, tar)
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      session_id: session.id,
      events: before.length,
      held_prompts: 0,
      interrupted_run: null,
      skipped: [],
    })
    const after = await abroad.events(session.id)
    expect(after.slice(0, before.length).map(withoutPlace)).toEqual(before.map(withoutPlace))
    expect(after[before.length]?.kind).toBe("session.imported")

    await abroad.append(answer.body.task_id, "recall")
    const log = await abroad.waitForRuns(session.id, 3)
    expect(agentText(log.slice(before.length))).toContain("walnut")
    expect(log.findLast((event) => event.kind === "agent.started")).toMatchObject({ strategy: "injected" })
  })

  test("an open run is interrupted, its question revoked, and waiting messages wait for a person's word", async () => {
    const { task, session } = await home.createTask("run echo hello")
    await home.waitForEvent(session.id, (event) => event.kind === "run.waiting", "the question")
    const open = await exported(home, session.id)
    await home.api("POST", `/api/v1/sessions/${session.id}/cancel`)
    await home.waitForRuns(session.id, 1)
    await home.append(task.id, "hang")
    await home.waitForEvent(session.id, (event) => event.kind === "message.delta", "the busy agent")
    await home.append(task.id, "remember later")

    const { body } = await imported(abroad, open)
    expect(body.interrupted_run).toMatch(/^run_/)
    const log = await abroad.events(session.id)
    expect(log.filter((event) => event.kind === "run.interrupted")).toEqual([expect.objectContaining({ reason: "executor_lost" })])
    expect(log.some((event) => event.kind === "token.revoked")).toBe(true)
    expect((await abroad.session(session.id)).waits).toEqual([])
    const status = (await abroad.api<SessionStatusReport>("GET", `/api/v1/sessions/${session.id}/status`)).body
    expect(status).toMatchObject({ state: "WAITING_FOR_INPUT", status: "interrupted_startup", worktree_path: null })
  })

  test("[L1] a held message is not sent by itself; released it is delivered once", async () => {
    const { task, session } = await home.createTask("hang")
    await home.waitForEvent(session.id, (event) => event.kind === "message.delta", "the busy agent")
    const held = await home.append(task.id, "remember plum")
    const { body } = await imported(abroad, await exported(home, session.id))
    expect(body).toMatchObject({ held_prompts: 1 })
    const queue = `/api/v1/sessions/${session.id}/queue`
    expect((await abroad.api<{ prompts: QueuedPrompt[] }>("GET", queue)).body.prompts).toMatchObject([
      { prompt_id: held.prompt_id, message: "remember plum", held: true },
    ])
    // A newer message goes by; the held one stays.
    await abroad.append(body.task_id, "hello", { session_id: session.id })
    const others = await abroad.waitForRuns(session.id, 2)
    expect(others.some((event) => event.kind === "prompt.delivering" && event.prompt_id === held.prompt_id)).toBe(false)

    expect((await abroad.api("PATCH", `${queue}/${held.prompt_id}`, { held: false })).status).toBe(200)
    const log = await abroad.waitForRuns(session.id, 3)
    expect(log.filter((event) => event.kind === "prompt.delivered" && event.prompt_id === held.prompt_id)).toHaveLength(1)
  })

  test("the same session again is refused, and nothing of the attempt stays", async () => {
    const { session } = await home.createTask("hello")
    await home.waitForRuns(session.id, 1)
    const tar = await exported(home, session.id)
    const both = await Promise.all([imported(abroad, tar), imported(abroad, tar)])
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
    expect(both.find(({ status }) => status === 409)?.body.code).toBe("CONFLICT")
    expect((await imported(abroad, tar)).body.code).toBe("CONFLICT")
    expect((await imported(home, tar)).body.code).toBe("CONFLICT")
    expect((await abroad.events(session.id)).filter((event) => event.kind === "session.imported")).toHaveLength(1)
  })

  test("different sessions imported at once are all taken", async () => {
    const made = await Promise.all(["remember ash", "remember elm", "remember yew"].map((message) => home.createTask(message)))
    const files = await Promise.all(
      made.map(async ({ session }) => {
        await home.waitForRuns(session.id, 1)
        return exported(home, session.id)
      }),
    )
    const answers = await Promise.all(files.map((file) => imported(abroad, file)))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
  })

  test("importing changes the journal's generation, so that followers load again", async () => {
    const { session } = await home.createTask("hello")
    await home.waitForRuns(session.id, 1)
    const generation = async () =>
      (await abroad.api<{ generation: string }>("GET", `/api/v1/sessions/${known.session.id}/events`)).body.generation
    const known = await abroad.createTask("hello")
    const before = await generation()
    await imported(abroad, await exported(home, session.id))
    expect(await generation()).not.toBe(before)
  })
})

describe("a damaged export", () => {
  let rewake: Rewake
  let made = 0
  beforeAll(async () => {
    rewake = await Rewake.start()
  })
  afterAll(() => rewake?.stop())
  let folders: string[] = []
  afterEach(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    folders = []
  })

  const newId = () => `sess_damaged${Date.now().toString(36)}${++made}`
  const at = (second: number) => new Date(Date.UTC(2026, 1, 1, 10, 0, second)).toISOString()
  const said = (seq: number, content: string) => ({
    ...{ seq, ts: at(seq), v: 1, kind: "message.user" },
    ...{ message_id: `m${seq}`, prompt_id: `p${made}_${seq}`, content },
  })

  test("torn, zeroed, oversized and unknown records: what can be read is kept, the rest is told line by line", async () => {
    const id = newId()
    const log = Buffer.concat([
      lines([said(1, "first")]),
      Buffer.from("\0\0\0\0\n"),
      Buffer.concat([Buffer.from("\0\0"), lines([said(2, "after zeros")])]),
      Buffer.from("{not json}\n"),
      Buffer.from(`{"seq":3,"ts":"${at(3)}","kind":"message.user","content":"${"x".repeat(17 * 1024 * 1024)}"}\n`),
      lines([{ seq: 4, ts: at(4), kind: "weather.changed", v: 3, to: "rain" }]),
      lines([{ seq: 5, ts: at(5), kind: "message.user", v: 1 }]),
      lines([said(4, "again"), said(6, "last whole")]),
      Buffer.from(`{"seq":7,"ts":"${at(7)}","kind":"mess`),
    ])
    const { status, body } = await imported(rewake, pack({ [`${id}.messages.jsonl`]: log }), "?agent=demo")
    expect(status).toBe(201)
    expect(body.skipped.map(({ line, reason, kept }) => [line, reason, kept])).toEqual([
      [2, "not_json", false],
      [4, "not_json", false],
      [5, "oversized", false],
      [6, "unknown_kind", true],
      [7, "malformed", true],
      [8, "seq_not_increasing", false],
      [10, "torn", false],
    ])
    const events = await rewake.events(id)
    expect(events.filter((event) => event.kind === "message.user").map((event) => event.content)).toEqual([
      "first",
      "after zeros",
      "last whole",
    ])
    expect(events.find((event) => event.seq === 4)).toMatchObject({ kind: "agent.update", update: { kind: "weather.changed", to: "rain" } })
    // It leaves as it came.
    const { folder, files } = await unpack(await exported(rewake, id))
    folders.push(folder)
    const unknown = (files[`${id}.messages.jsonl`] as string).split("\n").map((line) => (line ? JSON.parse(line) : {}))
    expect(unknown.find(({ seq }) => seq === 4)).toMatchObject({ kind: "weather.changed", v: 3, to: "rain" })

    await rewake.append(body.task_id, "hello")
    await rewake.waitForRuns(id, 1)
  })

  test("an upload that breaks off in the middle keeps what arrived whole", async () => {
    const id = newId()
    const whole = pack({ [`${id}.messages.jsonl`]: lines([said(1, "one"), said(2, "two"), said(3, "three")]) })
    const { status, body } = await imported(rewake, whole.subarray(0, 512 + 250), "?agent=demo")
    expect(status).toBe(201)
    expect(body.skipped).toEqual([expect.objectContaining({ reason: "torn" })])
    expect(body.events).toBe(2)
  })

  test.each([
    ["no tar", Buffer.from("hello, this is not a tar file")],
    ["empty", Buffer.alloc(0)],
    ["no log in it", pack({ "sess_x1.json": Buffer.from("{}") })],
    ["a log of nothing", pack({ "sess_x2.messages.jsonl": Buffer.from("\0\0\0\n{]\n") })],
    [
      "two sessions",
      pack({ "sess_x3.messages.jsonl": lines([{ seq: 1, ts: at(1), kind: "x" }]), "sess_x4.messages.jsonl": Buffer.from("{}\n") }),
    ],
    ["an unknown agent", pack({ "sess_x5.messages.jsonl": lines([{ seq: 1, ts: at(1), kind: "x" }]) })],
  ])("%s: refused with a code, and nothing is left of it", async (_what, body) => {
    const answer = await imported(rewake, body)
    expect(answer.status).toBe(400)
    expect(answer.body.code).toBe("INVALID_INPUT")
    for (const id of ["sess_x1", "sess_x2", "sess_x3", "sess_x4", "sess_x5"])
      expect((await rewake.api("GET", `/api/v1/sessions/${id}`)).status).toBe(404)
  })

  test("another's session is answered like one that does not exist; whoever keeps the server may rescue it", async () => {
    const { session } = await rewake.createTask("hello")
    const join = async (email: string, ...flags: string[]) => {
      const code = new URL(rewake.cli("invite", "--email", email, ...flags)).searchParams.get("code")
      await rewake.api("POST", "/api/v1/invitations/accept", { code, password: "a password of theirs", name: email })
      return rewake.issueToken(email)
    }
    const eve = await join("eve@example.org")
    expect((await rewake.as(eve)("GET", `/api/v1/sessions/${session.id}/export`)).status).toBe(404)
    const keeper = await join("keeper@example.org", "--admin")
    const rescued = await fetch(`${rewake.url}/api/v1/sessions/${session.id}/export`, { headers: { authorization: `Bearer ${keeper}` } })
    expect(rescued.status).toBe(200)
    await rescued.arrayBuffer()
  })

  test("the doctor reads an export without a server, and finds nothing wrong with a living database", async () => {
    const { session } = await rewake.createTask("remember fig")
    await rewake.waitForRuns(session.id, 1)
    const folder = mkdtempSync(join(tmpdir(), "rewake-doctor-"))
    folders.push(folder)
    rewake.cli("export", "--session", session.id, "--to", folder)
    expect(rewake.cli("doctor", folder)).toContain("0 records are damaged")
    const log = join(folder, `${session.id}.messages.jsonl`)
    writeFileSync(log, readFileSync(log).subarray(0, -7))
    const doctor = (...args: string[]) =>
      run(process.execPath, ["dist/cli.mjs", "doctor", ...args], { env: rewake.environment() }).catch((error) => error)
    const sick = await doctor(folder)
    expect(sick.code).toBe(1)
    expect(sick.stdout).toMatch(/line \d+: torn, left out/)
    const found = (await doctor()).stdout as string
    expect(found).toContain("sessions examined")
    expect(found).not.toContain(session.id)
  })
})
