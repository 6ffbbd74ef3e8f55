import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import type { SessionSetup } from "../../lib/contracts/agent-setup"
import type { QueuedPrompt } from "../../lib/contracts/task"
import type { WorkerView } from "../../lib/contracts/workers"
import { ofKind } from "../support/events"
import { archiveTask } from "../support/expiry"
import { imported, lines, pack } from "../support/exports"
import { agentText } from "../support/server"
import { readRows, runSql } from "../support/sql"
import { TERMINAL_ENV, view } from "../support/terminal"
import { useServer } from "../support/use-server"

/** An exported session is a file from a stranger. Each of these files once ran something, or took something, when it was imported. */
const rewake = useServer({ env: { ...TERMINAL_ENV, QUEUE_MAX: "5" } })

let made = 0
const at = (seq: number) => new Date(Date.UTC(2026, 1, 1) + seq * 1000).toISOString()
/** The file of a session that a stranger wrote by hand: events, then lines as they are. */
function forge(events: readonly object[], { repository = null as string | null, end = "" } = {}) {
  const id = `sess_forged${Date.now().toString(36)}${++made}`
  const log = lines(events.map((event, index) => ({ session_id: id, seq: index + 1, ts: at(index), v: 1, ...event })))
  const snapshot = {
    ...{ format: 1, id, title: "From a stranger", working_dir: null, provider: { type: "demo", model: null } },
    ...{ created_at: at(0), updated_at: at(1), last_seq: events.length, run: null, status: "idle", state: "WAITING_FOR_INPUT" },
    ...{ recovery: { last_boot_seen: null, interruption: null }, runtime: "standalone" },
    task: { type: repository === null ? "chat" : "code", agent: "demo", repository },
  }
  const files = { [`${id}.json`]: Buffer.from(JSON.stringify(snapshot)), [`${id}.messages.jsonl`]: Buffer.concat([log, Buffer.from(end)]) }
  return { id, tar: pack(files) }
}
const take = async ({ id, tar }: ReturnType<typeof forge>) => {
  const { status, body } = await imported(rewake, tar)
  expect({ status, body }).toMatchObject({ status: 201 })
  return { id, task_id: body.task_id, body }
}
const queued = (prompt_id: string, content: string, extra: object = {}) => [
  { kind: "message.user", message_id: `m_${prompt_id}`, prompt_id, content, ...extra },
  { kind: "prompt.queued", message_id: `m_${prompt_id}`, prompt_id, content, rank: 1, client_message_id: null, ...extra },
]
const started = {
  ...{ kind: "agent.started", agent_execution_id: "aex_x", strategy: "new", pid: null },
  capabilities: { load: true, resume: false },
}
const newPrompt = () => `prm_forged${Date.now().toString(36)}${++made}`

describe("an imported session runs nothing that its file names", () => {
  test("an attachment whose hash is a path: the message is shown, and nothing can be sent with it", async () => {
    const evil = { id: "att_evil", name: "x", mime_type: "text/plain", bytes: 1, sha256: "../ptys/wrk_evil?x=" }
    const prompt = newPrompt()
    const { id, body } = await take(forge(queued(prompt, "look", { attachments: [evil] })))
    expect(body.skipped.map(({ reason, kept }) => [reason, kept])).toEqual([
      ["malformed", true],
      ["malformed", true],
    ])
    const queue = await rewake.api<{ prompts: QueuedPrompt[] }>("GET", `/api/v1/sessions/${id}/queue`)
    expect(queue.body.prompts).toEqual([])
    expect((await rewake.api("PATCH", `/api/v1/sessions/${id}/queue/${prompt}`, { held: false })).status).toBe(404)
  })

  test("modes, choices and sign-ins of the file are gone: the next agent has its own, and asks", async () => {
    const choices = ["ask", "auto"].map((value) => ({ value, name: value, description: null, group: null }))
    const mode = { id: "mode", name: "Mode", description: null, category: "mode", type: "select", current: "auto", choices }
    const terminal = { args: [], env: { "X=1;touch pwned;Y": "1" } }
    const method = { id: "t", name: "Sign in", description: null, terminal: { args: ["login"], env: { X: "1" } } }
    const { id, task_id } = await take(
      forge([
        ...queued(newPrompt(), "hello").slice(0, 1),
        started,
        { kind: "agent.session_announced", agent_session_id: "demo_00000000-0000-0000-0000-000000000000" },
        { kind: "agent.setup_announced", setup: { options: [mode], commands: [], sign_in: [method], mcp_servers: [] } },
        { kind: "agent.options_chosen", options: { mode: "auto" }, by: "usr_x" },
        { kind: "agent.sign_in_required", message: "Sign in", methods: [{ ...method, terminal }] },
        { kind: "agent.sign_in_required", message: "Sign in", methods: [method] },
      ]),
    )
    const setup = (await rewake.api<SessionSetup>("GET", `/api/v1/sessions/${id}/setup`)).body
    expect(setup).toMatchObject({ options: [], pending: {}, sign_in: null })
    await rewake.append(task_id, "run touch ran-unasked", { session_id: id })
    const log = await rewake.waitForEvent(id, (event) => event.kind === "run.waiting", "the question before the command")
    expect(ofKind(log, "agent.options_settled")).toEqual([])
    expect(ofKind(log, "agent.started").at(-1)?.strategy).not.toBe("loaded")
    await rewake.api("POST", `/api/v1/sessions/${id}/cancel`)
    await rewake.waitForRuns(id, 1)
  })

  test("a conversation that is an option of the command line is forgotten, and the tab's agent begins a new one", async () => {
    const worker_id = `wrk_forged${Date.now().toString(36)}${++made}`
    const tab = { worker_id, type: "agent", name: "Agent", agent: "demo", position: 0 }
    const { id, task_id } = await take(
      forge([
        { kind: "worker.opened", ...tab, conversation_id: "--dangerously-bypass-approvals-and-sandbox", forked_from: "--yolo" },
        { kind: "worker.conversation", worker_id, conversation_id: "-x", forked_from: "--yolo" },
      ]),
    )
    expect(await readRows(rewake.sqlPlace(), "SELECT conversation_id, forked_from FROM workers WHERE id = ?", [worker_id])).toEqual([
      { conversation_id: null, forked_from: null },
    ])
    await rewake.append(task_id, "hello", { session_id: id })
    await rewake.waitForRuns(id, 1)
    const workers = await rewake.api<{ workers: WorkerView[] }>("GET", `/api/v1/sessions/${id}/workers`)
    const viewer = await view(rewake, workers.body.workers[0] as WorkerView)
    await viewer.until(/demo/i)
    const pid = (await daemonPtys(id))[0]?.pid
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    expect(words).toContain("--session-id")
    expect(words.filter((word) => /dangerously|yolo|^-x$/.test(word))).toEqual([])
  })

  test("ids that would be paths make no rows: nothing follows from their events", async () => {
    const { id, body } = await take(
      forge([
        ...queued("../../x", "hello"),
        { kind: "worker.opened", worker_id: "../../x", type: "terminal", name: "T" },
        { kind: "restore.requested", executor_id: "exe_x", archive_id: "../../x" },
      ]),
    )
    expect(body.skipped.map(({ reason }) => reason)).toEqual(Array(4).fill("malformed"))
    const place = rewake.sqlPlace()
    expect(await readRows(place, "SELECT id FROM prompts WHERE session_id = ?", [id])).toEqual([])
    expect(await readRows(place, "SELECT id FROM workers WHERE session_id = ?", [id])).toEqual([])
  })

  test("a malformed receipt does not keep its session from coming back", async () => {
    const { id, task_id } = await take(
      forge([
        { kind: "worker.opened", worker_id: `wrk_m${Date.now().toString(36)}${++made}`, type: "terminal", name: "T" },
        { kind: "recovery.receipt", processes: "none" },
      ]),
    )
    await rewake.append(task_id, "count 3 1", { session_id: id })
    expect(agentText(await rewake.waitForRuns(id, 1))).toContain("1 2 3")
  })

  test("an earlier agent session of the file cannot be reinstated", async () => {
    const { id } = await take(forge([started, { kind: "agent.session_retired", agent_session_id: "-x", reason: "fresh_start" }]))
    const answer = await rewake.api("POST", `/api/v1/sessions/${id}/resume`, { reinstate: true })
    expect(answer).toMatchObject({ status: 409, body: { code: "SESSION_NOT_RESUMABLE" } })
  })

  test("a repository's URL is not cloned on the file's word", async () => {
    const { body } = await take(forge([started], { repository: "ssh://a/x" }))
    expect(body.notes.join()).toContain("The repository ssh://a/x cannot be used here")
    expect(await readRows(rewake.sqlPlace(), "SELECT repository FROM tasks WHERE id = ?", [body.task_id])).toEqual([{ repository: null }])
  })
})

describe("an archive belongs to its session", () => {
  test("a file that asks for somebody's archive gets nothing of it, nor does a row that names it", async () => {
    const { task, session } = await rewake.createTask("write secret.txt owned")
    await rewake.waitForRuns(session.id, 1)
    const log = await archiveTask(rewake, task.id, session.id)
    const archive_id = ofKind(log, "archive.created")[0]?.archive_id ?? ""
    const { id, task_id } = await take(
      forge([
        started,
        { kind: "executor.deleted", executor_id: "exe_x", archive_id },
        { kind: "restore.requested", executor_id: "exe_x", archive_id },
      ]),
    )
    await rewake.append(task_id, "hello", { session_id: id })
    await rewake.waitForRuns(id, 1)
    const workspace = ofKind(await rewake.events(id), "executor.ready").at(-1)?.worktree_path ?? ""
    expect(existsSync(workspace)).toBe(true)
    expect(readdirSync(workspace)).not.toContain("secret.txt")

    const other = await take(forge([started]))
    await runSql(rewake.sqlPlace(), "UPDATE executors_running SET restore_archive_id = ? WHERE session_id = ?", [archive_id, other.id])
    await rewake.api("POST", `/api/v1/tasks/${other.task_id}/append`, { message: "hello", session_id: other.id })
    const refused = await rewake.waitForEvent(other.id, (event) => event.kind === "executor.error", "the refusal")
    expect(ofKind(refused, "executor.error")[0]).toMatchObject({ reason: "archive_missing" })
    expect(ofKind(refused, "archive.restored")).toEqual([])
  })

  test("a file under the id of a session whose archive is here is refused", async () => {
    const { id, tar } = forge([started])
    await runSql(rewake.sqlPlace(), "INSERT INTO archives (id, session_id, task_id, state, created_at) VALUES (?, ?, 1, 'ready', ?)", [
      `arc_${id}`,
      id,
      at(0),
    ])
    expect(await imported(rewake, tar)).toMatchObject({ status: 409, body: { code: "CONFLICT" } })
  })
})

describe("an import is bounded", () => {
  const nothingOf = async (id: string) => {
    expect((await rewake.api("GET", `/api/v1/sessions/${id}`)).status).toBe(404)
    expect(await readRows(rewake.sqlPlace(), "SELECT seq FROM session_events WHERE session_id LIKE 'import%'", [])).toEqual([])
  }

  test("more waiting messages than a queue holds are refused", async () => {
    const { id, tar } = forge(Array.from({ length: 6 }, () => queued(newPrompt(), "hello")).flat())
    expect(await imported(rewake, tar)).toMatchObject({ status: 429, body: { code: "QUEUE_FULL", limit: 5 } })
    await nothingOf(id)
  })

  test("more tabs than an import may hold are refused by name", async () => {
    const tabs = Array.from({ length: 1_001 }, (_, n) => ({
      kind: "worker.opened",
      worker_id: `wrk_${made}_${n}`,
      type: "terminal",
      name: "T",
    }))
    const { id, tar } = forge(tabs)
    expect(await imported(rewake, tar)).toMatchObject({ status: 413, body: { code: "IMPORT_TOO_LARGE", what: "tabs", limit: 1_000 } })
    await nothingOf(id)
  })

  test("a record nested too deep and a number that leaves no room are left out; the session goes on", async () => {
    const deep = `{"seq":2,"ts":"${at(2)}","v":1,"kind":"agent.update","run_id":null,"update":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n`
    const last = `{"seq":${2 ** 53 - 2},"ts":"${at(3)}","v":1,"kind":"status.derived","status":"idle"}\n`
    const { id, body } = await take(forge([started], { end: deep + last }))
    expect(body.skipped.map(({ line, reason }) => [line, reason])).toEqual([
      [2, "too_deep"],
      [3, "seq_too_large"],
    ])
    await rewake.append(body.task_id, "count 3 1", { session_id: id })
    expect(agentText(await rewake.waitForRuns(id, 1))).toContain("1 2 3")
  })

  test("a time that is none is replaced by the one before it", async () => {
    const message = queued(newPrompt(), "hello")[0]
    const { id } = await take(forge([{ ...message }, { kind: "status.derived", status: "idle", ts: "not a time" }]))
    expect((await rewake.events(id)).slice(0, 2).map(({ ts }) => ts)).toEqual([at(0), at(0)])
  })
})

async function daemonPtys(sessionId: string): Promise<{ pid: number }[]> {
  const { endpoint, secret } = rewake.daemon()
  const answer = await fetch(`${endpoint}/sessions/${sessionId}/ptys`, { headers: { authorization: `Bearer ${secret}` } })
  return ((await answer.json()) as { ptys: { pid: number }[] }).ptys
}
