import { describe, expect, test } from "vitest"
import type { AdminArchives, AdminSessions, ArchiveRun } from "../../lib/contracts/admin"
import type { TaskView } from "../../lib/contracts/task"
import { DATABASES } from "../support/server"
import { readRows, runSql } from "../support/sql"
import { useServer } from "../support/use-server"
import { waitUntil } from "../support/wait-until"

/** More ids than either database takes as parameters of one statement. */
const SESSIONS = 5_000
const LONG_AGO = "2020-01-01T00:00:00.000Z"
/** Beyond any id a server gives to the tasks of these tests. */
const FIRST_TASK = 1_000_000

/** The numbers from 1 to `count`, as rows on either database. */
const NUMBERS = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${SESSIONS})`
const UNREACHABLE = "'error', 'unreachable'"

describe.each(DATABASES)("%s with thousands of sessions whose executors are not archived", (database) => {
  const rewake = useServer({ database })

  async function insertSessions(): Promise<void> {
    const place = rewake.sqlPlace()
    const [admin] = await readRows(place, "SELECT id FROM users LIMIT 1")
    // Owned by the running server: its sweep would otherwise recover each of them.
    const [boot] = await readRows(place, "SELECT id FROM boots WHERE ended_at IS NULL ORDER BY started_at DESC LIMIT 1")
    const owner = String(admin?.id)
    await runSql(
      place,
      `INSERT INTO tasks (id, owner_id, type, title, state, agent, created_at, updated_at, last_activity_at)
       ${NUMBERS} SELECT ${FIRST_TASK} + n, '${owner}', 'chat', 'Many ' || n, 'REVIEW', 'demo', '${LONG_AGO}', '${LONG_AGO}', '${LONG_AGO}' FROM numbers`,
    )
    await runSql(
      place,
      `INSERT INTO sessions (id, task_id, user_id, agent, runtime, created_at, updated_at, state, active_at, owner_boot_id)
       ${NUMBERS} SELECT 'sess_many' || n, ${FIRST_TASK} + n, '${owner}', 'demo', 'standalone', '${LONG_AGO}', '${LONG_AGO}', 'WAITING_FOR_INPUT', '${LONG_AGO}',
         '${boot?.id}' FROM numbers`,
    )
    await runSql(
      place,
      `INSERT INTO executors_running (id, session_id, task_id, runtime, status, error_code, agent_execution_id, created_at, updated_at)
       ${NUMBERS} SELECT 'exe_many' || n, 'sess_many' || n, ${FIRST_TASK} + n, 'standalone', ${UNREACHABLE}, 'agent_many' || n, '${LONG_AGO}', '${LONG_AGO}' FROM numbers`,
    )
  }

  test("the status pages answer, and the reaper archives what can be archived", async () => {
    await insertSessions()
    const { task, session } = await rewake.createTask("remember fig")
    await rewake.waitForRuns(session.id, 1)
    await waitUntil(async () => (await rewake.session(session.id)).state === "WAITING_FOR_INPUT", "a session at rest")

    // One whose agent is gone, among all the others.
    await runSql(rewake.sqlPlace(), "UPDATE executors_running SET agent_execution_id = NULL WHERE session_id = 'sess_many7'")
    const gone = await rewake.api<AdminSessions>("GET", "/api/v1/admin/sessions?filter=agent_gone")
    expect(gone.body.items.map(({ session_id }) => session_id)).toEqual(["sess_many7"])
    const all = await rewake.api<AdminSessions>("GET", "/api/v1/admin/sessions?limit=10")
    expect([all.status, all.body.counts.all, all.body.counts.agent_gone]).toEqual([200, SESSIONS + 1, 1])
    const titled = await rewake.api<AdminSessions>("GET", "/api/v1/admin/sessions?q=mANY&limit=200")
    expect([titled.status, titled.body.items.length]).toEqual([200, 200])
    const next = await rewake.api<AdminSessions>("GET", `/api/v1/admin/sessions?q=many&limit=200&cursor=${titled.body.next_cursor}`)
    expect(next.body.items.every(({ session_id }) => titled.body.items.every((item) => item.session_id !== session_id))).toBe(true)

    // Used later than all the others, and still the first to be archived: they cannot be.
    await runSql(rewake.sqlPlace(), "UPDATE tasks SET last_activity_at = '2021-01-01T00:00:00.000Z' WHERE id = ?", [task.id])
    await runSql(rewake.sqlPlace(), "UPDATE sessions SET active_at = '2021-01-01T00:00:00.000Z' WHERE id = ?", [session.id])
    const archives = await rewake.api<AdminArchives>("GET", "/api/v1/admin/archives")
    expect(archives.status).toBe(200)
    expect(archives.body.due[0]).toMatchObject({ session_id: session.id, blocked: null })
    expect(archives.body.due[1]).toMatchObject({ blocked: "unreachable" })
    expect((await rewake.api<ArchiveRun>("POST", "/api/v1/admin/archives/run")).body).toEqual({ due: 1 })
    await rewake.waitForEvent(session.id, (event) => event.kind === "executor.deleted", "the executor to be archived")
  })

  test("one task with thousands of sessions is listed", async () => {
    const { task } = await rewake.createTask("remember fig")
    await runSql(rewake.sqlPlace(), "UPDATE sessions SET task_id = ? WHERE id LIKE 'sess_many%'", [task.id])
    await runSql(rewake.sqlPlace(), "UPDATE executors_running SET task_id = ? WHERE session_id LIKE 'sess_many%'", [task.id])
    const answer = await rewake.api<TaskView>("GET", `/api/v1/tasks/${task.id}`)
    expect([answer.status, answer.body.sessions.length]).toEqual([200, SESSIONS + 1])
  })
})
