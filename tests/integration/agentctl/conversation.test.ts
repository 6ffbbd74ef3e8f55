import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { SpoolRecord } from "../../../lib/contracts/agentctl/protocol"
import { processStartTime } from "../../../lib/host/process-identity"
import { useDaemon } from "../../support/use-daemon"

const daemon = useDaemon()

test("what an agent streams arrives once, in order, and ends with the turn", async () => {
  await daemon.ready("sess_count")
  const stream = daemon.events("sess_count")
  expect((await daemon.prompt("sess_count", "prm_1", "count 300 1")).body).toEqual({ accepted: true, duplicate: false })
  const ended = await stream.until("turn.ended")
  expect(ended).toMatchObject({ run_id: "run_prm_1", prompt_id: "prm_1", stop_reason: "end_turn" })
  expect(stream.text()).toBe(Array.from({ length: 300 }, (_, i) => i + 1).join(" "))
  expect(stream.records.map((r) => r.n)).toEqual(stream.records.map((_, i) => i + 1))
  const deeds = stream.kinds().filter((kind) => kind !== "agent.setup_announced")
  expect(deeds.slice(0, 3)).toEqual(["agent.started", "agent.session_announced", "prompt.accepted"])
  expect(stream.kinds().at(-1)).toBe("turn.ended")
  for (const record of stream.records) SpoolRecord.parse(record)
  expect(new Set(stream.records.flatMap((r) => (r.kind === "message.delta" ? [r.message_id] : []))).size).toBe(1)
})

test("a reader that comes back gets exactly what it has not seen", async () => {
  await daemon.ready("sess_again")
  const first = daemon.events("sess_again")
  // How many numbers a record holds depends on the machine: it counts until both readers have had some.
  await daemon.prompt("sess_again", "prm_1", "count 100000 2")
  await first.until("message.delta")
  await first.end()
  const seen = first.records.at(-1)?.n ?? 0
  const second = daemon.events("sess_again", seen)
  await second.until("message.delta")
  await daemon.call("POST", "/sessions/sess_again/cancel", { body: { run_id: "run_prm_1" } })
  await second.until("turn.ended")
  const records = [...first.records, ...second.records]
  expect(records.map((record) => record.n)).toEqual(records.map((_, at) => at + 1))
  const text = first.text() + second.text()
  expect(text.trimEnd()).toBe(Array.from({ length: text.trimEnd().split(" ").length }, (_, i) => i + 1).join(" "))
})

test("a cancelled turn ends as cancelled, and the next prompt is taken", async () => {
  await daemon.ready("sess_cancel")
  const stream = daemon.events("sess_cancel")
  await daemon.prompt("sess_cancel", "prm_1", "hang")
  await stream.until("message.delta")
  expect((await daemon.prompt("sess_cancel", "prm_2", "recall")).body).toMatchObject({ code: "AGENT_BUSY" })
  expect((await daemon.call("POST", "/sessions/sess_cancel/cancel", { body: { run_id: "run_other" } })).body).toEqual({ cancelled: false })
  expect((await daemon.call("POST", "/sessions/sess_cancel/cancel", { body: { run_id: "run_prm_1" } })).body).toEqual({ cancelled: true })
  expect((await stream.until("turn.ended")).stop_reason).toBe("cancelled")
  expect((await daemon.prompt("sess_cancel", "prm_2", "recall")).body).toEqual({ accepted: true, duplicate: false })
  await stream.until("turn.ended", (r) => r.run_id === "run_prm_2")
})

test("a permission waits while readers come and go, and the first answer stands", async () => {
  await daemon.ready("sess_perm")
  const first = daemon.events("sess_perm")
  await daemon.prompt("sess_perm", "prm_1", "run echo one; echo two")
  const asked = await first.until("permission.requested")
  expect(asked).toMatchObject({ run_id: "run_prm_1", title: "Run echo one; echo two", detail: "echo one; echo two" })
  expect(asked.options).toEqual([
    { id: "allow_once", label: "Allow once", kind: "allow_once" },
    { id: "allow_always", label: "Always allow", kind: "allow_always" },
    { id: "reject_once", label: "Refuse", kind: "reject_once" },
  ])
  await first.end()
  expect((await daemon.describe("sess_perm")).pending_permissions).toEqual([asked.permission_id])

  const put = (outcome: unknown, id = asked.permission_id) =>
    daemon.call("PUT", `/sessions/sess_perm/permissions/${id}`, { body: { outcome } })
  const yes = { kind: "selected", option_id: "allow_once" }
  expect((await put({ kind: "selected", option_id: "never_offered" })).status).toBe(400)
  expect((await put(yes, "perm_unknown")).status).toBe(404)
  const answers = await Promise.all([put(yes), put(yes), put({ kind: "cancelled" })])
  expect(answers.map((a) => a.body)).toEqual([{ outcome: yes }, { outcome: yes }, { outcome: yes }])

  const second = daemon.events("sess_perm", asked.n)
  await second.until("turn.ended")
  expect(second.records.filter((r) => r.kind === "permission.resolved")).toHaveLength(1)
  const updates = second.records.flatMap((r) => (r.kind === "tool.update" ? [r] : []))
  expect(updates.at(-1)).toMatchObject({
    status: "completed",
    output: [{ type: "text", text: "one\ntwo\n" }],
    raw_output: { exit_code: 0 },
  })
})

test("cancelling a turn that waits answers its permission with cancelled", async () => {
  await daemon.ready("sess_waits")
  const stream = daemon.events("sess_waits")
  await daemon.prompt("sess_waits", "prm_1", "run touch never.txt")
  await stream.until("permission.requested")
  await daemon.call("POST", "/sessions/sess_waits/cancel", { body: { run_id: "run_prm_1" } })
  expect((await stream.until("permission.resolved")).outcome).toEqual({ kind: "cancelled" })
  expect((await stream.until("turn.ended")).stop_reason).toBe("cancelled")
  expect(existsSync(join(daemon.dataDir, "workspaces/sess_waits/never.txt"))).toBe(false)
})

test("a question offers its choices and hears the one taken", async () => {
  await daemon.ready("sess_ask")
  const stream = daemon.events("sess_ask")
  await daemon.prompt("sess_ask", "prm_1", "ask Which way?")
  const asked = await stream.until("permission.requested")
  expect(asked.title).toBe("Which way?")
  expect(asked.options.map((o) => o.kind)).toEqual(["allow_once", "allow_once", "allow_once"])
  const outcome = { kind: "selected", option_id: asked.options[1]?.id }
  await daemon.call("PUT", `/sessions/sess_ask/permissions/${asked.permission_id}`, { body: { outcome } })
  await stream.until("turn.ended")
  expect(stream.text()).toBe("You chose: The second way")
})

test("an agent that crashes in mid-turn is told apart: exit first, then the failed turn, with all it had said", async () => {
  await daemon.ready("sess_crash")
  const stream = daemon.events("sess_crash")
  await daemon.prompt("sess_crash", "prm_1", "crash")
  const failed = await stream.until("turn.failed")
  expect(failed).toMatchObject({
    run_id: "run_prm_1",
    reason: "agent_exited",
    message: "The agent ended with code 1: demo agent: crashing as asked",
  })
  expect(stream.kinds().slice(-3)).toEqual(["message.delta", "agent.exited", "turn.failed"])
  expect(stream.find("agent.exited")).toMatchObject({ code: 1, signal: null, cause: "exited" })
  expect(stream.text()).toBe("I am about to end in the middle of a sen")
  expect(await daemon.describe("sess_crash")).toMatchObject({ run: null, agent: { state: "exited", pid: null } })
  expect((await daemon.prompt("sess_crash", "prm_2", "recall")).body).toMatchObject({ code: "AGENT_NOT_RUNNING" })
})

test("thoughts, plans and tool calls each become records of their kind", async () => {
  await daemon.ready("sess_kinds")
  const stream = daemon.events("sess_kinds")
  const say = async (id: string, text: string) => {
    await daemon.prompt("sess_kinds", id, text)
    await stream.until("turn.ended", (r) => r.prompt_id === id)
  }
  await say("prm_1", "think")
  expect(stream.text("thought")).toContain("Let me see")
  const messages = stream.records.flatMap((r) => (r.kind === "message.delta" ? [`${r.role} ${r.message_id}`] : []))
  expect(new Set(messages).size).toBe(2)
  await say("prm_2", "plan")
  const plans = stream.records.flatMap((r) => (r.kind === "plan.updated" ? [r.entries.map((e) => e.status)] : []))
  expect(plans.at(-1)).toEqual(["completed", "completed", "completed"])
  await say("prm_3", "write notes/a.txt hello there")
  expect(readFileSync(join(daemon.dataDir, "workspaces/sess_kinds/notes/a.txt"), "utf8")).toBe("hello there")
  const path = join(daemon.dataDir, "workspaces/sess_kinds/notes/a.txt")
  expect(stream.records.find((r) => r.kind === "tool.update")).toMatchObject({
    status: "completed",
    output: [{ type: "diff", path, old_text: null, new_text: "hello there" }],
  })
  await say("prm_4", "read notes/a.txt")
  expect(stream.records.filter((r) => r.kind === "tool.update").at(-1)).toMatchObject({ output: [{ type: "text", text: "hello there" }] })
  await say("prm_5", "help")
  expect(stream.text()).toContain("| `recall` |")
  for (const record of stream.records) SpoolRecord.parse(record)
})

test("stopping an agent ends its whole process tree and says so once", async () => {
  const { agent } = await daemon.ready("sess_stop")
  const stream = daemon.events("sess_stop")
  await daemon.prompt("sess_stop", "prm_1", "run sleep 1000 & echo $!; setsid sleep 1001 & echo $!; wait")
  const asked = await stream.until("permission.requested")
  const outcome = { kind: "selected", option_id: "allow_once" }
  await daemon.call("PUT", `/sessions/sess_stop/permissions/${asked.permission_id}`, { body: { outcome } })
  const printed = (r: { output?: unknown[] | undefined }) => String((r.output?.[0] as { text?: string } | undefined)?.text ?? "")
  const shown = await stream.until("tool.update", (r) => /\d+\n\d+\n/.test(printed(r)))
  const children = printed(shown).trim().split("\n").map(Number)
  expect(children).toHaveLength(2)
  await daemon.call("DELETE", "/sessions/sess_stop/agent")
  await daemon.call("DELETE", "/sessions/sess_stop/agent")
  expect(await stream.until("agent.exited")).toMatchObject({ cause: "stopped" })
  expect(await stream.until("turn.failed")).toMatchObject({ reason: "agent_exited", message: "The agent was stopped." })
  expect(stream.kinds().filter((k) => k === "agent.exited")).toHaveLength(1)
  for (const pid of [agent.pid as number, ...children]) await expect.poll(() => alive(pid), { timeout: 5000 }).toBe(false)
})

test("one agent at a time: the same start joins, another is refused, and a new one may follow the end", async () => {
  await daemon.putSession("sess_one")
  const [a, b] = await Promise.all([daemon.putAgent("sess_one", "exec_1"), daemon.putAgent("sess_one", "exec_1")])
  expect(a.body).toEqual(b.body)
  expect((await daemon.putAgent("sess_one", "exec_2")).body).toMatchObject({ code: "AGENT_BUSY" })
  await daemon.call("DELETE", "/sessions/sess_one/agent")
  expect((await daemon.putAgent("sess_one", "exec_1")).body).toMatchObject({ code: "AGENT_NOT_RUNNING" })
  expect((await daemon.putAgent("sess_one", "exec_2")).status).toBe(200)
})

/** A zombie has ended, although its pid is still taken. */
function alive(pid: number): boolean {
  return processStartTime(pid) !== null
}
