import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { AdminArchives } from "../../lib/contracts/admin"
import type { RestoreResult } from "../../lib/contracts/restore"
import type { SessionStatusReport } from "../../lib/contracts/status"
import { KILL_POINTS } from "../../lib/host/kill-point"
import { archiveTask, reapUntil } from "../support/expiry"
import { arm, heardByAgents } from "../support/kill-points"
import { agentText, type Rewake } from "../support/server"
import { useServers } from "../support/use-servers"
import { waitUntil } from "../support/wait-until"

const start = useServers()

let rewake: Rewake

/** An agent started by a restore has no receipt yet at the last of these. */
const POINTS = [...KILL_POINTS.put_away, "resume.agent_up"] as const
const isOfRestore = (point: string) => point.startsWith("restore.") || point.startsWith("resume.")

/** Files are somewhere, always: in their folder, or in an archive that was verified. */
async function filesAreSafe(folder: string): Promise<boolean> {
  if (existsSync(join(folder, "a.txt"))) return true
  const { archives } = (await rewake.api<AdminArchives>("GET", "/api/v1/admin/archives")).body
  return archives.some((archive) => archive.state === "ready")
}

async function restored(taskId: number): Promise<void> {
  await waitUntil(async () => {
    const answer = await rewake
      .api<RestoreResult>("POST", `/api/v1/tasks/${taskId}/restore`, { message: "recall", client_message_id: "c-1" })
      .catch(() => null)
    return answer?.status === 200
  }, "the restore to be accepted")
}

describe.each([
  ["the server", false],
  ["server and agentctl together", true],
] as const)("%s killed while a task is archived or restored", (_who, also) => {
  test.each(POINTS)("[7] at %s: files and memory come back, the message is delivered once", async (point) => {
    rewake = await start({ armed: true })
    const { task, session } = await rewake.createTask("remember walnut")
    await rewake.waitForRuns(session.id, 1)
    const folder = (await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${session.id}/status`)).body.worktree_path as string
    writeFileSync(join(folder, "a.txt"), "precious")

    const archived = () => archiveTask(rewake, task.id, session.id)
    if (isOfRestore(point)) await archived()
    const death = arm(rewake, point, { also })
    if (isOfRestore(point)) {
      rewake.api("POST", `/api/v1/tasks/${task.id}/restore`, { message: "recall", client_message_id: "c-1" }).catch(() => null)
      await death.reached()
    } else await reapUntil(rewake, task.id, death.isReached, `a death at ${point}`)
    await rewake.restart()
    expect(await filesAreSafe(folder)).toBe(true)
    if (!isOfRestore(point)) await archived()
    expect(await filesAreSafe(folder)).toBe(true)

    await restored(task.id)
    const log = await rewake.waitForRuns(session.id, 2)
    expect(agentText(log).split("\n").at(-1)).toContain("walnut")
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("precious")
    expect(log.filter((event) => event.kind === "message.user" && event.content === "recall")).toHaveLength(1)
    expect(heardByAgents(rewake)).toEqual(["remember walnut", "recall"])
    const receipts = log.filter((event) => event.kind === "recovery.receipt" && event.receipt_kind === "restore")
    if (isOfRestore(point)) expect(receipts).toMatchObject([{ agent_memory: "native", files: { archive: { files: expect.any(Number) } } }])
  })
})
