import type { AppendResult, QueuedPrompt, SessionView, TaskView } from "../../lib/contracts/task"
import type { Outcome, Wait } from "../../lib/contracts/waits"
import { KILL_POINTS } from "../../lib/host/kill-point"
import { follow } from "../support/server"
import { runSql } from "../support/sql"
import { signal } from "./place"
import { describeStep, type Fault, type Moment, type PersonStep, type Step, type WaitFor, type Who } from "./schedule"
import { performAtTerminal } from "./terminals"
import { LOOK_MS, PATIENCE_MS, pause, SLOW_LOOK_MS, untilOrNever } from "./wait"
import type { World, WorldSession } from "./world"

/** As long as something is being worked on, an armed point may still be reached. */
const ON_THE_WAY_MS = 6_000

export const isServerPoint = (point: string) => [...KILL_POINTS.server, ...KILL_POINTS.put_away].some((known) => known === point)

/** Carries out one step as it is written; what cannot be done (no such session, no open question) is left out. */
export async function perform(world: World, step: Step): Promise<void> {
  await world.noteFired(isServerPoint)
  world.say(describeStep(step))
  switch (step.do) {
    case "together":
      await Promise.all(step.steps.map((one) => performByPerson(world, one)))
      break
    case "await":
      await awaitIt(world, world.session(step.session), step.for)
      break
    case "kill":
    case "arm":
    case "kill while starting":
    case "freeze daemon":
    case "close database":
    case "damage row":
      await strike(world, step)
      break
    default:
      await performByPerson(world, step)
  }
  await world.noteFired(isServerPoint)
}

async function performByPerson(world: World, step: PersonStep): Promise<void> {
  const { place } = world
  await place.up(step.via, (line) => world.say(line))
  const call = <T>(method: string, path: string, body?: unknown) => place.call<T>(step.via, method, path, body)
  if (step.do === "create") {
    const answer = await call<{ task: TaskView; session: SessionView }>("POST", "/api/v1/tasks", {
      type: "chat",
      agent: step.agent,
      message: step.text,
    })
    world.judge("creating a task", answer?.status ?? null, answer?.body)
    if (answer?.status !== 201) {
      // It may have been made all the same, and then its message is heard once.
      world.sent.push({ session_id: "", task_id: 0, text: step.text, client_id: null, status: answer?.status ?? null, prompt_id: null })
      return
    }
    const { task, session } = answer.body
    world.sessions.push({ id: session.id, task_id: task.id, agent: step.agent, tabs: [], terminals: [], damaged: new Set() })
    world.sent.push({ session_id: session.id, task_id: task.id, text: step.text, client_id: null, status: 202, prompt_id: null })
    return
  }
  const session = world.session(step.session)
  if (!session) return
  const of = `/api/v1/sessions/${session.id}`
  const told = async (what: string, method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body)
    world.judge(what, answer?.status ?? null, answer?.body)
    return answer?.status ?? null
  }
  switch (step.do) {
    case "add session": {
      const answer = await call<SessionView>("POST", `/api/v1/tasks/${session.task_id}/sessions`, { agent: step.agent })
      world.judge("adding a session", answer?.status ?? null, answer?.body)
      if (answer?.status === 201)
        world.sessions.push({
          id: answer.body.id,
          task_id: session.task_id,
          agent: step.agent,
          tabs: [],
          terminals: [],
          damaged: new Set(),
        })
      return
    }
    case "send":
      await Promise.all(Array.from({ length: step.callers }, () => send(world, session, step.via, step.text, step.client_id)))
      return
    case "answer":
      await answerWait(world, session, step.via, step)
      return
    case "cancel":
      await told("cancel", "POST", `${of}/cancel`, {})
      return
    case "stop":
      world.endedByPerson = true
      await told("stop", "POST", `${of}/stop`, {})
      return
    case "resume":
      if (step.fresh) world.endedByPerson = true
      await Promise.all(
        Array.from({ length: step.callers }, () => told("resume", "POST", `${of}/resume`, step.fresh ? { fresh: true } : {})),
      )
      return
    case "go back":
      world.endedByPerson = true
      await told("going back", "POST", `${of}/resume`, { reinstate: true })
      return
    case "edit":
    case "withdraw": {
      const queue = await call<{ prompts: QueuedPrompt[] }>("GET", `${of}/queue`)
      const prompts = queue?.status === 200 ? queue.body.prompts : []
      const prompt = prompts[step.nth % Math.max(prompts.length, 1)]
      if (!prompt) return
      const path = `${of}/queue/${prompt.prompt_id}`
      const text = step.do === "edit" ? step.text : null
      const status = await (text === null ? told("withdraw", "DELETE", path) : told("edit", "PATCH", path, { message: text }))
      world.changed.push({ session_id: session.id, prompt_id: prompt.prompt_id, text, status })
      return
    }
    case "open tab":
      session.tabs.push({ ...follow(place.server(step.via), session.id), open: true })
      return
    case "open terminal":
    case "look":
    case "type":
    case "resize":
    case "close terminal":
      return performAtTerminal(world, session, step)
    case "close tab": {
      const tab = session.tabs.find((candidate) => candidate.open)
      if (!tab) return
      tab.open = false
      tab.socket.disconnect()
      return
    }
  }
}

export async function send(world: World, session: WorldSession, via: number, text: string, client_id: string | null) {
  const answer = await world.place.call<AppendResult>(via, "POST", `/api/v1/tasks/${session.task_id}/append`, {
    message: text,
    session_id: session.id,
    ...(client_id ? { client_message_id: client_id } : {}),
  })
  const status = answer?.status ?? null
  world.judge("append", status, answer?.body)
  if (answer?.status === 409 && (answer.body as { code?: string }).code === "TASK_EXPIRED_RESTORABLE")
    return bringBack(world, session, via, text, client_id)
  const accepted = status === 202 && answer ? answer.body : null
  world.sent.push({
    session_id: accepted?.session_id ?? session.id,
    task_id: session.task_id,
    text,
    client_id,
    status,
    prompt_id: accepted?.prompt_id ?? null,
  })
  return accepted
}

/** What a person does with the dialog that the 409 opens: Continue chat, with the message that was waiting. */
async function bringBack(world: World, session: WorldSession, via: number, text: string, client_id: string | null) {
  const { task_id } = session
  const answer = await world.place.call(via, "POST", `/api/v1/tasks/${task_id}/restore`, {
    message: text,
    session_id: session.id,
    ...(client_id ? { client_message_id: client_id } : {}),
  })
  const status = answer?.status ?? null
  world.judge("restore", status, answer?.body)
  const prompt =
    status === 200
      ? await world.place.db.prompt.findFirst({ where: { task_id, content: JSON.stringify(text) }, orderBy: { queued_at: "desc" } })
      : null
  if (status === 200 && !prompt) world.surprises.push(`the restore of task ${task_id} took "${text}", which is nowhere`)
  const session_id = prompt?.session_id ?? session.id
  world.sent.push({ session_id, task_id, text, client_id, status: prompt ? 202 : status, prompt_id: prompt?.id ?? null })
  return null
}

export async function answerWait(
  world: World,
  session: WorldSession,
  via: number,
  { option, how }: { option: number; how: "once" | "twice" | "conflicting" | "racing" },
): Promise<boolean> {
  const view = await world.place.call<SessionView>(via, "GET", `/api/v1/sessions/${session.id}`)
  const wait: Wait | undefined = view?.status === 200 ? view.body.waits[0] : undefined
  if (!wait) return false
  const choice = (nth: number): Outcome => {
    const chosen = wait.options[nth % (wait.options.length + 1)]
    return chosen ? { kind: "selected", option_id: chosen.id } : { kind: "cancelled" }
  }
  const give = async (outcome: Outcome) => {
    const path = `/api/v1/sessions/${session.id}/waits/${wait.token_id}`
    const answer = await world.place.call(via, "POST", path, { secret: wait.secret, outcome })
    world.judge(`answering ${outcome.kind === "selected" ? outcome.option_id : "cancelled"}`, answer?.status ?? null, answer?.body)
    world.answered.push({ session_id: session.id, token_id: wait.token_id, outcome, status: answer?.status ?? null })
  }
  const first = choice(option)
  if (how === "racing") await Promise.all([give(first), give(choice(option + 1)), give(first)])
  else await give(first)
  if (how === "twice") await give(first)
  if (how === "conflicting") await give(choice(option + 1))
  return true
}

async function strike(world: World, fault: Fault): Promise<void> {
  const { place } = world
  switch (fault.do) {
    case "arm":
      return place.arm({ point: fault.point, occurrence: fault.occurrence, also: fault.also })
    case "freeze daemon":
      world.say(place.freezeDaemon(fault.ms) ? "  the daemon stands still" : "  there is no daemon to freeze")
      return
    case "close database":
      world.say(place.closeDatabase(fault.ms) ? "  every connection to it is cut" : "  it is not reached over a network")
      return
    case "damage row":
      return damageRow(world, world.session(fault.session), fault.nth)
    case "kill": {
      await momentOf(world.session(fault.session), fault.moment)
      await killNow(world, fault.who, world.session(fault.session), fault.via)
      return
    }
    case "kill while starting": {
      if (place.isUp(fault.via)) await killNow(world, ["server"], null, fault.via)
      const starting = place.server(fault.via).boot()
      const timer = setTimeout(() => void killNow(world, ["server"], null, fault.via), fault.ms)
      await starting.catch(() => world.say("  it did not come up"))
      clearTimeout(timer)
    }
  }
}

/** Only of what follows from nothing and nothing follows from: the other rows would have to be mended before they can be checked. */
async function damageRow(world: World, session: WorldSession | null, nth: number): Promise<void> {
  const { place } = world
  if (!session) return
  const said = await place.db.sessionEvent.findMany({
    where: { session_id: session.id, kind: { in: ["message.delta", "message.agent", "message.thought", "tool.update"] } },
    orderBy: { seq: "asc" },
    select: { seq: true },
  })
  const row = said[nth % Math.max(said.length, 1)]
  if (!row) return world.say("  nothing was said yet")
  await runSql(place.server(0).sqlPlace(), "UPDATE session_events SET payload = ? WHERE session_id = ? AND seq = ?", [
    '{"content": "torn',
    session.id,
    row.seq,
  ])
  session.damaged.add(row.seq)
  world.say(`  seq ${row.seq} cannot be read any more`)
}

/** All of them in one go: nobody may see the others die and write about it. */
async function killNow(world: World, who: readonly Who[], session: WorldSession | null, via: number): Promise<void> {
  const { place } = world
  const daemon = who.includes("daemon") ? place.daemonPid(via) : null
  const daemons = place.daemonPids()
  const agents = who.includes("agent")
    ? place.processes().filter((one) => daemons.includes(one.parent) && one.session_id === (session?.id ?? "") && one.worker_id === null)
    : []
  const server = who.includes("server") && place.isUp(via) ? place.server(via) : null
  const gone = server?.kill9()
  if (daemon !== null && signal(daemon, "SIGKILL")) world.died("daemon", "kill -9")
  for (const { pid } of agents) if (signal(pid, "SIGKILL")) world.died("agent", `kill -9 of ${world.nameOf(session?.id ?? "")}'s`)
  if (server) world.died("server", "kill -9")
  await gone
}

/** Pieces of text as a tab or the journal shows them; a moment that does not come is not waited for. */
async function momentOf(session: WorldSession | null, moment: Moment): Promise<void> {
  if ("ms" in moment) return moment.ms === 0 ? undefined : pause(moment.ms)
  const tab = session?.tabs.find((candidate) => candidate.open)
  if (!tab) return pause(moment.texts * LOOK_MS)
  const texts = () => tab.seen.filter((event) => event.kind === "message.delta").length
  const before = texts()
  await untilOrNever(() => texts() >= before + moment.texts)
}

async function awaitIt(world: World, session: WorldSession | null, what: WaitFor): Promise<void> {
  const { place } = world
  // Whoever looks at a page that does not answer starts the server.
  for (const via of place.servers.keys()) await place.up(via, (line) => world.say(line))
  if (what === "kill point") return untilReachedOrQuiet(world)
  if (!session) return
  const rowOf = () => place.db.session.findUnique({ where: { id: session.id } }).catch(() => null)
  if (what === "archive") return untilPutAway(world, session)
  if (what === "idle") return untilIdle(world, session)
  await untilOrNever(async () => {
    if (place.hasFired()) return true
    const row = await rowOf()
    if (!row) return false
    if (what === "question") return row.open_waits > 0
    if (what === "end") return row.open_run_id === null
    return row.open_run_id !== null && row.last_seq > (row.run_first_seq ?? 0) + 4
  })
}

/** Its agent is up and has done all that was asked. */
async function untilIdle({ place }: World, { id }: WorldSession): Promise<void> {
  for (const deadline = Date.now() + ON_THE_WAY_MS; Date.now() < deadline && !place.hasFired(); await pause(SLOW_LOOK_MS)) {
    const row = await place.db.session.findUnique({ where: { id } }).catch(() => null)
    const queued = await place.db.prompt.count({ where: { session_id: id, state: "queued" } }).catch(() => 1)
    if (row?.state === "WAITING_FOR_INPUT" && row.open_run_id === null && queued === 0) return
  }
}

/** Two seconds to expire, one until the reaper looks, and the packing. What is busy does not expire, and is not waited for. */
async function untilPutAway({ place }: World, session: WorldSession): Promise<void> {
  for (const deadline = Date.now() + ON_THE_WAY_MS; Date.now() < deadline && !place.hasFired(); await pause(SLOW_LOOK_MS)) {
    const executor = await place.db.executorRunning.findUnique({ where: { session_id: session.id } }).catch(() => null)
    if (executor?.status === "deleted" && executor.trashed_at !== null) return
  }
}

/** A point that is on the way is waited for; where nothing happens any more, none is. Acknowledgements come up to a second late. */
async function untilReachedOrQuiet({ place, sessions }: World): Promise<void> {
  const ids = sessions.map(({ id }) => id)
  let busyAt = Date.now()
  for (const deadline = Date.now() + ON_THE_WAY_MS; Date.now() < deadline && !place.hasFired(); await pause(SLOW_LOOK_MS)) {
    const busy = { id: { in: ids }, OR: [{ open_run_id: { not: null }, open_waits: 0 }, { state: "STARTING" }] }
    const queued = { session_id: { in: ids }, state: "queued" }
    if ((await place.db.session.count({ where: busy })) + (await place.db.prompt.count({ where: queued })) > 0) busyAt = Date.now()
    if (Date.now() - busyAt > PATIENCE_MS) return
  }
}
