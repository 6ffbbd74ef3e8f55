import { closeSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { processStartTime } from "../../lib/host/process-identity"
import { damages } from "../support/damages"
import { endsOf, ofKind } from "../support/events"
import { agentText, DATABASES, numbers } from "../support/server"
import { useServer } from "../support/use-server"
import { waitUntil } from "../support/wait-until"

/** Damage that leaves the header, and so the spool's identity, as they were. */
const inTheMiddle: Record<string, (file: string) => void> = {
  "a line of garbage": (file) => replaceLine(file, 3, Buffer.from("%&/()=?")),
  "a line of NULs": (file) => replaceLine(file, 3, Buffer.alloc(80)),
  "a line of the wrong type": (file) => replaceLine(file, 3, Buffer.from("[3]")),
  "a line cut in half": (file) => replaceLine(file, 3, Buffer.from('{"n":3,"ts":"2026-0')),
}
function replaceLine(file: string, nth: number, bytes: Buffer) {
  const lines = readFileSync(file).toString("latin1").split("\n")
  lines[nth] = bytes.toString("latin1")
  writeFileSync(file, lines.join("\n"), "latin1")
}

describe.each(DATABASES)("damaged spools on %s", (database) => {
  const rewake = useServer({ database, durations: { heartbeatMs: 1_000 } })
  const spoolOf = (id: string) => join(rewake.dataDir, `sessions/${id}.messages.jsonl`)
  async function killAll() {
    const { pid, start_time } = rewake.daemon()
    await rewake.kill9()
    process.kill(pid, "SIGKILL")
    await waitUntil(() => processStartTime(pid) !== start_time, "agentctl to be gone")
  }

  test("whatever was done to it, its session goes on after the next start, and so does a healthy one", async () => {
    const healthy = await rewake.createTask("remember plum")
    const hurt = await Promise.all(
      Object.entries({ ...damages, ...inTheMiddle }).map(async ([what, damage]) => ({
        what,
        damage,
        ...(await rewake.createTask("remember kiwi")),
      })),
    )
    for (const { session } of [healthy, ...hurt]) await rewake.waitForRuns(session.id, 1)
    // One of them is in the middle of a run.
    const open = hurt.find(({ what }) => what === "filled with garbage") as (typeof hurt)[number]
    await rewake.append(open.task.id, "count 2000 20")
    await rewake.waitForEvent(open.session.id, (event) => event.kind === "message.delta" && event.content.includes(" 5"), "a number")
    await killAll()
    for (const { session, damage } of hurt) damage(spoolOf(session.id))
    await rewake.boot()
    for (const { task, session, what } of [...hurt, { ...healthy, what: "healthy" }]) {
      const ended = what === open.what ? ["run.completed", "run.interrupted"] : ["run.completed"]
      await rewake.waitForRuns(session.id, ended.length)
      await rewake.append(task.id, "recall")
      const log = await rewake.waitForRuns(session.id, ended.length + 1)
      expect(agentText(log), what).toContain("I remember:")
      expect(endsOf(log), what).toEqual([...ended, "run.completed"])
      // What had been read before is not read twice.
      expect(ofKind(log, "message.user"), what).toHaveLength(ended.length + 1)
      expect(ofKind(log, "agent.started").length, what).toBe(2)
    }
  })

  test("a line that becomes unreadable while the daemon streams it is named, and the run goes on", async () => {
    const { task, session } = await rewake.createTask("remember fig")
    await rewake.waitForRuns(session.id, 1)
    await rewake.append(task.id, "count 300 20")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta" && event.content.includes(" 5"), "some numbers")
    await rewake.kill9()
    // Not yet read, and written over where it lies: the daemon knows nothing of it.
    const file = spoolOf(session.id)
    const known = readFileSync(file).length
    await waitUntil(
      () =>
        readFileSync(file)
          .subarray(known)
          .filter((byte) => byte === 10).length > 4,
      "records nobody has read",
    )
    const lost = overwriteLineAfter(file, known)
    await rewake.boot()
    const log = await rewake.waitForRuns(session.id, 2)
    expect(endsOf(log)).toEqual(["run.completed", "run.completed"])
    expect(ofKind(log, "record.rejected").map(({ reason }) => reason)).toEqual(["unreadable in the spool"])
    const [, second] = ofKind(log, "run.started")
    const said = ofKind(log, "message.agent").filter(({ run_id }) => run_id === second?.run_id)
    expect(said.map(({ content }) => content).join("")).toBe(numbers(300).replace(lost, ""))
  })

  test("records swallowed by damage at the end of a living daemon's spool are not waited for", async () => {
    const { task, session } = await rewake.createTask("remember fig")
    await rewake.waitForRuns(session.id, 1)
    await rewake.append(task.id, "count 40 10")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta" && event.content.includes("5"), "some numbers")
    await rewake.kill9()
    const file = spoolOf(session.id)
    await waitUntil(() => readFileSync(file, "utf8").split('"kind":"turn.ended"').length === 3, "the end of the second turn")
    overwriteLastLines(file, 3)
    await rewake.boot()
    expect(endsOf(await rewake.waitForRuns(session.id, 2))).toHaveLength(2)
    await rewake.append(task.id, "recall")
    expect(agentText(await rewake.waitForRuns(session.id, 3))).toContain("fig")
  })

  test("a spool cut by somebody else while the daemon lives keeps no session from being decided", async () => {
    const { session } = await rewake.createTask("remember fig")
    await rewake.waitForRuns(session.id, 1)
    await rewake.kill9()
    const lines = readFileSync(spoolOf(session.id), "utf8").split("\n")
    truncateSync(spoolOf(session.id), `${lines[0]}\n`.length + 20)
    await rewake.boot()
    const { task_id } = await rewake.session(session.id)
    await rewake.append(task_id, "recall")
    expect(agentText(await rewake.waitForRuns(session.id, 2))).toContain("I remember: fig")
  })
})

/** With one line of garbage in place of them all, their ends included. */
function overwriteLastLines(file: string, count: number) {
  const bytes = readFileSync(file)
  let start = bytes.length
  for (let line = 0; line <= count; line++) start = bytes.lastIndexOf(10, start - 1)
  const garbage = Buffer.alloc(bytes.length - start - 2, "%")
  const fd = openSync(file, "r+")
  writeSync(fd, garbage, 0, garbage.length, start + 1)
  closeSync(fd)
}

/** What the overwritten record said. */
function overwriteLineAfter(file: string, offset: number): string {
  const bytes = readFileSync(file)
  const start = bytes.indexOf(10, bytes.indexOf(10, offset) + 1) + 1
  const end = bytes.indexOf(10, start)
  const garbage = Buffer.alloc(end - start, "%")
  const fd = openSync(file, "r+")
  writeSync(fd, garbage, 0, garbage.length, start)
  closeSync(fd)
  return (JSON.parse(bytes.toString("utf8", start, end)) as { content: string }).content
}
