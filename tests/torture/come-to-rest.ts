import type { SessionStatusReport } from "../../lib/contracts/status"
import type { QueuedPrompt } from "../../lib/contracts/task"
import { answerWait, isServerPoint, send } from "./perform"
import { traitsOf } from "./schedule"
import { lookAtTerminals } from "./terminals"
import { pause, SLOW_LOOK_MS } from "./wait"
import type { World, WorldSession } from "./world"

/** Longer than any back-off that a single fault leads to; what is not at rest by then is stuck. */
const REST_LIMIT_MS = 45_000
/** A person presses Retry on a session in ERROR, and again some time later, not all the time. */
const RETRY_AFTER_MS = 2_000

/**
 * The faults are over: everything is started again, every question answered, every error retried, until nothing is left to do.
 * Ends with one `recall` to every session that takes messages, so that what its agent remembers can be compared with its label.
 * Returns what never came to rest.
 */
export async function comeToRest(world: World): Promise<string[]> {
  const { place } = world
  place.disarm()
  place.thaw()
  place.reopenDatabase()
  await place.untilNothingFires()
  await world.noteFired(isServerPoint)
  for (const via of place.servers.keys()) await place.up(via, (line) => world.say(line))
  await discover(world)
  world.say("the faults are over")

  const stuck = await settle(world)
  if (stuck.length > 0) return stuck
  for (const session of world.sessions) {
    const status = await statusOf(world, session)
    if (status.resume_reason === "not_resumable" || status.state === "ERROR") continue
    world.say(`${world.nameOf(session.id)}: send "recall"`)
    await send(world, session, 0, "recall", null)
  }
  const after = [...(await settle(world)), ...(await lookAtTerminals(world, REST_LIMIT_MS))]
  return after.length > 0 || !traitsOf(place.setting).expiring ? after : untilAllPutAway(world)
}

/**
 * Where tasks expire, rest is the archive; or, where packing failed, the executor that was kept for a later try. A session
 * that came back with its task and was not used since is still in its archive. A message that waits for an agent which cannot
 * come back keeps its task from expiring: a person has to decide.
 */
async function untilAllPutAway({ place, sessions }: World): Promise<string[]> {
  let out: string[] = []
  for (const deadline = Date.now() + REST_LIMIT_MS; Date.now() < deadline; await pause(SLOW_LOOK_MS)) {
    const executors = await place.db.executorRunning.findMany({ where: { session_id: { in: sessions.map(({ id }) => id) } } })
    const held = await place.db.prompt.findMany({ where: { state: "queued" }, select: { task_id: true } })
    const waiting = executors.filter(
      ({ task_id, status, trashed_at, reap_after, restore_archive_id }) =>
        status !== "none" &&
        restore_archive_id === null &&
        !held.some((prompt) => prompt.task_id === task_id) &&
        (status === "deleted" ? trashed_at === null : reap_after === null),
    )
    if (waiting.length === 0) return []
    out = waiting.map(({ session_id, status }) => `${session_id}: expired, and still ${status}`)
  }
  return out
}

/** A task whose 201 never arrived is in the list all the same. */
async function discover(world: World): Promise<void> {
  const rows = await world.place.db.session.findMany({ where: { id: { notIn: world.sessions.map(({ id }) => id) } } })
  for (const row of rows) {
    const task = await world.place.db.task.findUnique({ where: { id: row.task_id } })
    if (task && task.deleted_at === null)
      world.sessions.push({ id: row.id, task_id: row.task_id, agent: row.agent, tabs: [], terminals: [], damaged: new Set() })
  }
}

async function settle(world: World): Promise<string[]> {
  const retried = new Map<string, number>()
  let waiting: string[] = []
  for (const deadline = Date.now() + REST_LIMIT_MS; Date.now() < deadline; await pause(SLOW_LOOK_MS)) {
    const unexpected = world.place.unexpectedEnd()
    if (unexpected) return [unexpected]
    waiting = await unfinishedRecoveries(world)
    for (const session of world.sessions) {
      const reason = await notAtRest(world, session, retried)
      if (reason) waiting.push(`${world.nameOf(session.id)} (${session.agent}): ${reason}`)
    }
    if (waiting.length === 0) return []
  }
  return waiting
}

/** Agents may still be on their way while a boot has not written its report. */
async function unfinishedRecoveries({ place }: World): Promise<string[]> {
  const pids = place.servers.map((server) => server.child?.pid ?? 0)
  const boots = await place.db.boot.findMany({ where: { pid: { in: pids }, ended_at: null }, orderBy: { started_at: "desc" } })
  const current = pids.map((pid) => boots.find((boot) => boot.pid === pid)?.id ?? "")
  const reports = await place.db.recoveryReport.findMany({ where: { boot_id: { in: current } }, select: { boot_id: true } })
  return current.filter((id) => !reports.some((report) => report.boot_id === id)).map((id) => `the recovery of ${id} has no report`)
}

async function notAtRest(world: World, session: WorldSession, retried: Map<string, number>): Promise<string | null> {
  const { place } = world
  const row = await place.db.session.findUniqueOrThrow({ where: { id: session.id } })
  const queue = await place.db.prompt.findMany({ where: { session_id: session.id, state: "queued" } })
  const about = `${row.state}, run ${row.open_run_id}, ${row.open_waits} waits, ${queue.length} queued`
  if (row.open_waits > 0) {
    await answerWait(world, session, 0, { option: 0, how: "once" })
    return about
  }
  if (row.open_run_id !== null) return about
  if (await isPutAway(world, session)) return tabsBehind(session, row.last_seq)
  if (row.state === "ERROR") {
    if (Date.now() - (retried.get(session.id) ?? 0) < RETRY_AFTER_MS) return about
    retried.set(session.id, Date.now())
    world.say(`${world.nameOf(session.id)} is in ERROR: retry`)
    await place.call(0, "POST", `/api/v1/sessions/${session.id}/resume`, {})
    return about
  }
  if (row.state !== "WAITING_FOR_INPUT" && row.state !== "CREATED") return about
  if (queue.length > 0) return (await canTakeMessages(world, session)) ? about : null
  return tabsBehind(session, row.last_seq)
}

const isPutAway = async ({ place }: World, { id }: WorldSession) =>
  traitsOf(place.setting).expiring === true &&
  ["deleted", "reaping"].includes((await place.db.executorRunning.findUniqueOrThrow({ where: { session_id: id } })).status)

const tabsBehind = (session: WorldSession, head: number): string | null => {
  const behind = session.tabs.filter((tab) => tab.open && (tab.seen.at(-1)?.seq ?? 0) < head)
  return behind.length > 0 ? `an open tab has seen ${behind[0]?.seen.at(-1)?.seq ?? 0} of ${head}` : null
}

/** An agent that is gone for good leaves its queue where it is; everybody else must work it off. */
const canTakeMessages = async (world: World, session: WorldSession) => (await statusOf(world, session)).resume_reason !== "not_resumable"

export async function statusOf(world: World, session: WorldSession): Promise<SessionStatusReport> {
  const answer = await world.place.call<SessionStatusReport>(0, "GET", `/api/v1/sessions/${session.id}/status`)
  if (answer?.status !== 200) throw new Error(`status of ${session.id}: ${answer?.status ?? "no answer"} ${JSON.stringify(answer?.body)}`)
  return answer.body
}

export async function queueOf(world: World, session: WorldSession): Promise<QueuedPrompt[]> {
  return (await world.place.call<{ prompts: QueuedPrompt[] }>(0, "GET", `/api/v1/sessions/${session.id}/queue`))?.body.prompts ?? []
}
