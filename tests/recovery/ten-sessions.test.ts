import { readFileSync, renameSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import type { AdminSessions, Recovery } from "../../lib/contracts/admin"
import type { SessionStatusReport } from "../../lib/contracts/status"
import { processStartTime } from "../../lib/host/process-identity"
import { agentText, DATABASES, Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"

/** Thirty processes are started and killed: a busy machine takes its time over it. */
const MANY_PROCESSES_MS = 300_000

describe.each(DATABASES)("ten sessions and nobody looking, on %s", (database) => {
  let rewake: Rewake
  afterEach(() => rewake.stop())

  /** By the report alone: a session that is asked for might be repaired by the asking. */
  const report = () =>
    waitUntil(async () => {
      const { boot_id } = JSON.parse(readFileSync(join(rewake.dataDir, "run", "server.json"), "utf8")) as { boot_id: string }
      const { body } = await rewake.api<{ items: Recovery[] }>("GET", "/api/v1/admin/recoveries")
      const found = body.items.find((item) => item.boot_id === boot_id && item.finished_at !== null)
      return found && { ...found, others: body.items.filter((item) => item.boot_id !== boot_id) }
    }, "the recovery report")
  const status = async (id: string) => (await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${id}/status`)).body
  const outcomes = (recovery: Recovery, ids: readonly string[]) =>
    ids.map((id) => recovery.sessions.find((session) => session.session_id === id)?.outcome)

  async function tenSessions() {
    const start = async (message: string, agent: string, until: string) => {
      const { task, session } = await rewake.createTask(message, { agent })
      const log = await rewake.waitForEvent(session.id, (event) => event.kind === until, `${until} of ${message}`)
      const pid = log.find((event) => event.kind === "agent.started")?.pid as number
      return { id: session.id, task: task.id, pid, life: processStartTime(pid), path: (await status(session.id)).worktree_path as string }
    }
    const several = (count: number, message: string, agent: string, until: string) =>
      Promise.all(Array.from({ length: count }, () => start(message, agent, until)))
    const streaming = await several(3, "count 20000 500", "demo", "message.delta")
    const asking = await several(2, "ask Which way?", "demo", "run.waiting")
    const idle = await several(2, "remember pear", "demo", "run.completed")
    const injected = await several(1, "remember pear", "demo-inject", "run.completed")
    const [forgetful] = await several(1, "remember pear", "demo-forgetful", "run.completed")
    const [homeless] = await several(1, "remember pear", "demo", "run.completed")
    if (!forgetful || !homeless) throw new Error("unreachable")
    return { streaming, asking, idle, injected, forgetful, homeless }
  }

  test(
    "[6][8] the server alone: all are adopted; everything at once: each comes back as it can, and the report names each",
    async () => {
      rewake = await Rewake.start({ database })
      const { streaming, asking, idle, injected, forgetful, homeless } = await tenSessions()
      const all = [...streaming, ...asking, ...idle, ...injected, forgetful, homeless]
      const ids = (sessions: readonly { id: string }[]) => sessions.map((session) => session.id)

      await rewake.kill9()
      await rewake.boot()
      const first = await report()
      expect(outcomes(first, ids(all))).toEqual(all.map(() => "adopted"))
      expect(first).toMatchObject({ found: 10, adopted: 10, resumed: 0, interrupted: 0, failed: 0 })
      expect(all.map(({ pid }) => processStartTime(pid))).toEqual(all.map(({ life }) => life))
      // A server that was killed has an end all the same.
      await waitUntil(async () => (await report()).others.every((boot) => boot.ended_at !== null), "the killed server's end")
      const { counts } = (await rewake.api<AdminSessions>("GET", "/api/v1/admin/sessions")).body
      expect(counts).toMatchObject({ all: 10, running: 3, waiting: 2, agent_gone: 0 })

      const daemon = rewake.daemon()
      process.kill(daemon.pid, "SIGSTOP")
      await rewake.kill9()
      for (const { pid } of all) process.kill(pid, "SIGKILL")
      process.kill(daemon.pid, "SIGKILL")
      await waitUntil(() => processStartTime(daemon.pid) !== daemon.start_time, "agentctl to be gone")
      renameSync(homeless.path, `${homeless.path}.away`)
      await rewake.boot()

      const second = await report()
      expect(outcomes(second, ids([...streaming, ...asking]))).toEqual([...streaming, ...asking].map(() => "interrupted"))
      expect(outcomes(second, ids([...idle, ...injected]))).toEqual([...idle, ...injected].map(() => "resumed"))
      expect(outcomes(second, [forgetful.id, homeless.id])).toEqual(["not_resumable", "failed"])
      expect(second.sessions.find((session) => session.session_id === homeless.id)?.error).toContain(homeless.path)
      expect(second).toMatchObject({ found: 10, adopted: 0, resumed: 3, interrupted: 5, failed: 1 })

      for (const { id } of [...streaming, ...asking]) {
        expect(await status(id)).toMatchObject({ status: "interrupted_startup", is_agent_running: true, state: "WAITING_FOR_INPUT" })
        expect((await rewake.events(id)).filter((event) => event.kind === "run.interrupted")).toHaveLength(1)
      }
      for (const { id } of [...idle, ...injected]) expect(await status(id)).toMatchObject({ status: "idle", is_agent_running: true })
      expect(await status(forgetful.id)).toMatchObject({ is_resumable: false, resume_reason: "not_resumable", state: "WAITING_FOR_INPUT" })
      expect(await status(homeless.id)).toMatchObject({ state: "ERROR", executor_status: "error", resume_reason: "workspace_missing" })

      // Nothing was deleted: the folder back in its place, its session goes on as the others do.
      renameSync(`${homeless.path}.away`, homeless.path)
      for (const { id, task } of [homeless, ...injected]) {
        await rewake.append(task, "recall")
        expect(agentText(await rewake.waitForRuns(id, 2))).toContain("I remember: pear")
      }
    },
    MANY_PROCESSES_MS,
  )
})
