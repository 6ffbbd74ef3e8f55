import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { SessionEvent } from "../../lib/contracts/events"
import type { QueuedPrompt } from "../../lib/contracts/task"
import { endsOf, ofKind } from "../support/events"
import { exported, unpack } from "../support/exports"
import { ADMIN, agentText, DATABASES, numbers } from "../support/server"
import { readRows, runSql } from "../support/sql"
import { useServer } from "../support/use-server"
import { waitUntil } from "../support/wait-until"

/** What stands in a row's columns instead, by the event it is done to. */
const ROWS = {
  "message.agent": { payload: "not JSON" },
  "agent.started": { payload: '"a text"' },
  "run.started": { payload: "[1, 2]" },
  "run.completed": { payload: "" },
  "prompt.delivered": { payload: '{"cut": "in the mid' },
  "executor.ready": { payload: "null" },
  "prompt.delivering": { ts: "yesterday" },
  "agent.session_announced": { kind: "#!?" },
} as const satisfies Partial<Record<SessionEvent["kind"], Record<string, string>>>

describe.each(DATABASES)("damaged rows on %s", (database) => {
  const rewake = useServer({ database })
  const doctor = (...args: string[]) => {
    const { stdout, status } = spawnSync(process.execPath, ["dist/cli.mjs", "doctor", ...args], {
      env: rewake.environment(),
      encoding: "utf8",
    })
    return { said: stdout, status }
  }
  async function damage(sessionId: string, seq: number, columns: Record<string, string>) {
    for (const [column, value] of Object.entries(columns)) {
      const statement = `UPDATE session_events SET ${column} = ? WHERE session_id = ? AND seq = ?`
      expect(await runSql(rewake.sqlPlace(), statement, [value, sessionId, seq])).toBe(1)
    }
  }
  const sameBut = (log: readonly SessionEvent[], seqs: ReadonlySet<number>) => log.filter(({ seq }) => !seqs.has(seq))

  test("each is a rejected record where it stands; events, export and a new message go on, beside a healthy session", async () => {
    const healthy = await rewake.createTask("remember plum")
    const { task, session } = await rewake.createTask("remember kiwi")
    await rewake.waitForRuns(healthy.session.id, 1)
    await rewake.waitForRuns(session.id, 1)
    await waitUntil(async () => (await rewake.session(session.id)).state === "WAITING_FOR_INPUT", "rest")
    const before = await rewake.events(session.id)
    const seqs = new Set<number>()
    for (const [kind, columns] of Object.entries(ROWS)) {
      const { seq } = before.find((event) => event.kind === kind) as SessionEvent
      seqs.add(seq)
      await damage(session.id, seq, columns)
    }
    expect(doctor().said.match(new RegExp(`${session.id}: event \\d+ cannot be read`, "g"))).toHaveLength(seqs.size)

    const after = await rewake.events(session.id)
    expect(after.map(({ seq }) => seq)).toEqual(before.map(({ seq }) => seq))
    expect(sameBut(after, seqs)).toEqual(sameBut(before, seqs))
    for (const event of after.filter(({ seq }) => seqs.has(seq)))
      expect(event).toMatchObject({
        kind: "record.rejected",
        reason: "unreadable in the database",
        sha256: expect.stringMatching(/^\w{64}$/),
      })

    const { files, folder } = await unpack(await exported(rewake, session.id))
    expect(
      files[`${session.id}.messages.jsonl`]
        ?.trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(after)
    rmSync(folder, { recursive: true })

    await rewake.append(task.id, "recall")
    const log = await rewake.waitForEvent(session.id, (event) => event.kind === "run.completed", "the next run")
    expect(agentText(log)).toContain("I remember: kiwi")
    await rewake.append(healthy.task.id, "recall")
    expect(agentText(await rewake.waitForRuns(healthy.session.id, 2))).toContain("I remember: plum")
  })

  test("doctor --repair writes copies that can be read in, and changes nothing", async () => {
    const { task, session } = await rewake.createTask("remember fig")
    const log = await rewake.waitForRuns(session.id, 1)
    await damage(session.id, ofKind(log, "agent.started")[0]?.seq ?? 0, { payload: "\\\\\\" })
    const rows = () => readRows(rewake.sqlPlace(), "SELECT * FROM session_events WHERE session_id = ? ORDER BY seq", [session.id])
    const before = await rows()
    const folder = mkdtempSync(join(tmpdir(), "rewake-repaired-"))
    const { said, status } = doctor("--repair", folder)
    expect(status).toBe(1)
    expect(said).toContain(`${session.id}: a copy without what cannot be read is in ${join(folder, session.id)}`)
    expect(await rows()).toEqual(before)
    expect(readdirSync(join(folder, session.id)).sort()).toEqual(
      [".json", ".messages.jsonl", ".tokens.json"].map((end) => `${session.id}${end}`),
    )
    expect(doctor(join(folder, session.id))).toMatchObject({ said: expect.stringContaining("0 records are damaged"), status: 0 })

    await rewake.api("DELETE", `/api/v1/tasks/${task.id}`)
    await waitUntil(async () => (await rewake.api("GET", `/api/v1/sessions/${session.id}`)).status === 404, "the task to be removed")
    const result = JSON.parse(rewake.cli("import", join(folder, session.id), "--user", ADMIN.email)) as { skipped_count: number }
    expect(result.skipped_count).toBe(0)
    const readIn = await rewake.events(session.id)
    expect(ofKind(readIn, "message.user").map(({ content }) => content)).toEqual(["remember fig"])
    rmSync(folder, { recursive: true })
  })

  if (database === "sqlite") {
    test("a cell of another type than its column's is damage like any other", async () => {
      const { session } = await rewake.createTask("remember lime")
      const log = await rewake.waitForRuns(session.id, 1)
      const seq = ofKind(log, "message.agent")[0]?.seq ?? 0
      await runSql(rewake.sqlPlace(), "UPDATE session_events SET payload = x'ff00fe' WHERE session_id = ? AND seq = ?", [session.id, seq])
      expect((await rewake.events(session.id)).find((event) => event.seq === seq)).toMatchObject({ kind: "record.rejected" })
      expect(doctor().said).toContain(`${session.id}: event ${seq} cannot be read`)
      const { body } = await rewake.api<{ events: SessionEvent[] }>(
        "GET",
        `/api/v1/sessions/${session.id}/events?before=${seq + 2}&limit=3`,
      )
      expect(body.events.map((event) => event.seq)).toEqual([seq - 1, seq, seq + 1])
      expect((await exported(rewake, session.id)).toString("utf8")).toContain("unreadable in the database")
    })
  }

  test("inside an open run it does not keep the run from being adopted by the next server and ending", async () => {
    const { session } = await rewake.createTask("count 200 20")
    const log = await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "a number")
    await rewake.kill9()
    await damage(session.id, ofKind(log, "prompt.delivering")[0]?.seq ?? 0, { payload: "\\x" })
    await damage(session.id, ofKind(log, "message.delta")[0]?.seq ?? 0, { payload: "{" })
    await rewake.boot()
    const ended = await rewake.waitForRuns(session.id, 1)
    expect(endsOf(ended)).toEqual(["run.completed"])
    expect(agentText(ended)).toContain(numbers(200).slice(-100))
  })

  test("columns that cannot be read count as empty: page, setup, lists and the next message go on", async () => {
    const { task, session } = await rewake.createTask("remember fig")
    await rewake.waitForRuns(session.id, 1)
    const place = rewake.sqlPlace()
    for (const column of ["agent_setup", "agent_usage", "agent_options", "agent_sign_in"])
      await runSql(place, `UPDATE executors_running SET ${column} = ? WHERE session_id = ?`, ["{broken", session.id])
    await runSql(place, "UPDATE sessions SET interruption = ? WHERE id = ?", ["[]", session.id])
    await runSql(place, "UPDATE tasks SET last_restore = ? WHERE id = ?", ["?", task.id])
    await runSql(place, "UPDATE prompts SET attachments = ? WHERE session_id = ?", ["{}", session.id])
    for (const path of ["", "/status", "/setup", "/queue", "/events", "/workers"])
      expect((await rewake.api("GET", `/api/v1/sessions/${session.id}${path}`)).status, path).toBe(200)
    for (const path of ["/tasks", `/tasks/${task.id}`, "/admin/sessions", "/admin/recoveries", "/admin/audit"])
      expect((await rewake.api("GET", `/api/v1${path}`)).status, path).toBe(200)
    const { said } = doctor()
    for (const column of ["agent_setup", "agent_usage", "agent_options", "agent_sign_in"])
      expect(said).toMatch(new RegExp(`executors_running \\S+: ${column} cannot be read`))
    rewake.output = ""
    await rewake.restart()
    await rewake.append(task.id, "recall")
    expect(agentText(await rewake.waitForRuns(session.id, 2))).toContain("I remember: fig")
    expect(rewake.output.match(/executors_running\.agent_setup/g) ?? []).toHaveLength(1)
  })

  test("a message that cannot be read is held when its turn comes; the next one is delivered", async () => {
    const { task, session } = await rewake.createTask("hang")
    await rewake.waitForEvent(session.id, (event) => event.kind === "prompt.delivered", "the turn")
    const lost = await rewake.append(task.id, "this one is lost")
    const next = await rewake.append(task.id, "remember pear")
    expect(await runSql(rewake.sqlPlace(), "UPDATE prompts SET content = ? WHERE id = ?", ['{"not": "a text"}', lost.prompt_id])).toBe(1)
    await rewake.api("POST", `/api/v1/sessions/${session.id}/cancel`)
    const log = await rewake.waitForRuns(session.id, 2)
    expect(ofKind(log, "prompt.held")).toMatchObject([{ prompt_id: lost.prompt_id, reason: "unreadable" }])
    expect(ofKind(log, "prompt.delivering").map(({ prompt_id }) => prompt_id)).toContain(next.prompt_id)
    expect(ofKind(log, "prompt.delivering").map(({ prompt_id }) => prompt_id)).not.toContain(lost.prompt_id)
    expect(agentText(log)).toContain("pear")
    const queue = (await rewake.api<{ items: QueuedPrompt[] }>("GET", `/api/v1/sessions/${session.id}/queue`)).body
    expect(JSON.stringify(queue)).toContain("This message cannot be read any more")
    // A person writes it anew.
    const mended = { message: "recall", held: false }
    expect((await rewake.api("PATCH", `/api/v1/sessions/${session.id}/queue/${lost.prompt_id}`, mended)).status).toBe(200)
    expect(agentText(await rewake.waitForRuns(session.id, 3))).toContain("I remember: pear")
  })
})
