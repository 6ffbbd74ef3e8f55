import { KILL_POINTS, type KillPoint } from "../../lib/host/kill-point"
import { createRandom, type Random } from "./random"
import {
  AGENTS,
  type AgentName,
  ALL_SETTINGS,
  isFault,
  type Moment,
  type PersonStep,
  type Schedule,
  type Setting,
  type Step,
  traitsOf,
  type Who,
} from "./schedule"

const POINTS: readonly KillPoint[] = [...KILL_POINTS.server, ...KILL_POINTS.daemon]
const WITHOUT_TERMINALS = POINTS.filter((point) => !/^(worker|pty)\./.test(point))

/**
 * Seed, length and the settings to draw from → schedule, always the same one. About one step in four is a fault. Every schedule
 * visits the kill point that is its seed's turn, so that a row of seeds leaves none out.
 */
export function generate(seed: number, length: number, settings: readonly Setting[] = ALL_SETTINGS): Schedule {
  const random = createRandom(seed)
  const setting = random.weighted(settings.map((name) => [traitsOf(name).weight, name] as const))
  const writer = createWriter(seed, random, setting)
  const steps: Step[] = [writer.create(), ...(random.chance(0.5) ? [writer.create()] : []), writer.openTab()]
  const mostFaults = 1 + Math.ceil(length / 6)
  const points = pointsOf(setting)
  let visitAt = random.between(steps.length, Math.max(steps.length, length - 8))
  while (steps.length < length) {
    if (steps.length >= visitAt) {
      steps.push(...writer.visit(points[seed % points.length] as KillPoint))
      visitAt = Number.POSITIVE_INFINITY
      continue
    }
    const faults = steps.filter(isFault).length
    steps.push(...(faults < mostFaults && random.chance(0.28) ? writer.fault() : writer.life()))
  }
  return { seed, length, setting, steps }
}

function pointsOf(setting: Setting): readonly KillPoint[] {
  if (traitsOf(setting).expiring) return KILL_POINTS.put_away
  return setting === "separate places" ? WITHOUT_TERMINALS : POINTS
}

/** Every text is unlike any other, so that what an agent heard can be counted. */
function createWriter(seed: number, random: Random, setting: Setting) {
  const { database, servers, expiring = false } = traitsOf(setting)
  let words = 0
  let sessions = 0
  let clients = 0
  const sent: { text: string; client_id: string; session: number }[] = []
  const word = () => `w${seed}n${++words}`
  const at = () => ({ session: random.below(Math.max(sessions, 1)), via: servers === 2 ? random.below(2) : 0 })

  const count = () => `count ${random.between(5, 60)} ${random.pick([0, 5, 10, 20, 40])} ${word()}`
  const runs = () => `run echo ${word()} >> heard.txt`
  const text = () =>
    random.weighted([
      [6, count],
      [4, () => `remember ${word()}`],
      [3, runs],
      [3, () => `ask ${word()}?`],
      [2, () => "recall"],
      [2, () => `hello ${word()}`],
      [1, () => "think"],
      [1, () => "plan"],
      [1, () => `write ${word()}.txt some text`],
      [1, () => "crash"],
    ])()

  function create(
    what = text(),
    agent: AgentName = random.weighted([
      [5, "demo"],
      [3, "demo-inject"],
      [2, "demo-forgetful"],
    ]),
    via = at().via,
  ): Step {
    sessions++
    return { do: "create", via, agent, text: what }
  }
  const overNetwork = database === "postgresql"
  // A terminal is reached at the server of its place only.
  const terminals = setting !== "separate places"
  const freeze = (ms: number): Step => ({ do: "freeze daemon", ms })
  const openTab = (): Step => ({ do: "open tab", ...at() })

  const sendAgain = (): PersonStep => ({ do: "send", ...at(), ...random.pick(sent), callers: 1 })
  function send(what = text(), where = at()): PersonStep {
    if (random.chance(0.3)) return { do: "send", ...where, text: what, client_id: null, callers: 1 }
    const fresh = { text: what, client_id: `c${++clients}`, session: where.session }
    sent.push(fresh)
    return { do: "send", ...where, ...fresh, callers: random.chance(0.15) ? 2 : 1 }
  }
  const answer = (where = at()): PersonStep => ({
    do: "answer",
    ...where,
    option: random.below(4),
    how: random.pick(["once", "once", "twice", "conflicting", "racing"]),
  })
  const resume = (): PersonStep => ({ do: "resume", ...at(), callers: random.chance(0.4) ? 2 : 1, fresh: random.chance(0.25) })
  const cancel = (where = at()): PersonStep => ({ do: "cancel", ...where })

  const act = (): PersonStep =>
    random.weighted<() => PersonStep>([
      [9, send],
      [sent.length > 0 ? 1.5 : 0, sendAgain],
      [5, answer],
      [2, cancel],
      [3, resume],
      [1, () => ({ do: "stop", ...at() })],
      [1, () => ({ do: "go back", ...at() })],
      [2, () => ({ do: "edit", ...at(), nth: random.below(3), text: text() })],
      [1, () => ({ do: "withdraw", ...at(), nth: random.below(3) })],
      [terminals ? 2 : 0, () => useTerminal()],
    ])()

  const atTerminal = (where = at()) => ({ ...where, terminal: random.below(3) })
  const look = (where = at()): PersonStep => ({
    do: "look",
    ...atTerminal(where),
    from: random.pick(["screen", "beginning", "where it was", "where it was"]),
  })
  const type = (where = at()): PersonStep => ({
    do: "type",
    ...atTerminal(where),
    line: random.weighted([
      [6, "word"],
      [3, "job"],
      [1, "exit"],
    ]),
    word: word(),
  })
  const closeTerminal = (where = at()): PersonStep => ({ do: "close terminal", ...atTerminal(where) })
  const resize = (): PersonStep => ({ do: "resize", ...atTerminal(), cols: random.between(20, 200), rows: random.between(5, 60) })
  const useTerminal = (where = at()): PersonStep =>
    random.weighted([
      [5, type],
      [3, look],
      [1, resize],
      [1, closeTerminal],
    ])(where)
  const newTerminal = (where = at()): Step[] => [{ do: "open terminal", ...where }, look(where), type(where)]

  /** What people do between two faults. */
  function life(): Step[] {
    return random.weighted<() => Step[]>([
      [12, () => [act()]],
      [3, () => [openTab()]],
      [3, () => asked()],
      [1, () => [{ do: "close tab", ...at() }]],
      [4, () => [{ do: "await", session: at().session, for: random.pick(["text", "question", "end", "end"]) }]],
      [2, () => [{ do: "together", steps: Array.from({ length: random.between(2, 4) }, act) }]],
      [1, () => (sessions < 4 ? [addSession()] : [act()])],
      [1, () => (sessions < 4 ? [create()] : [act()])],
      [terminals ? 2 : 0, () => newTerminal()],
      [terminals ? 4 : 0, () => [useTerminal()]],
      [expiring ? 5 : 0, () => putAway()],
    ])()
  }
  /** A question that is there when it is answered. */
  function asked(where = at()): Step[] {
    return [
      send(random.chance(0.5) ? runs() : `ask ${word()}?`, where),
      { do: "await", session: where.session, for: "question" },
      answer(where),
    ]
  }
  /** Left alone until it is in its archive, and then perhaps wanted back. */
  function putAway(where = at()): Step[] {
    return [{ do: "await", session: where.session, for: "archive" }, ...(random.chance(0.7) ? [send(text(), where)] : [])]
  }
  function addSession(): Step {
    const where = at()
    sessions++
    return { do: "add session", ...where, agent: random.pick(AGENTS) }
  }

  const moment = (): Moment => (random.chance(0.5) ? { texts: random.between(1, 12) } : { ms: random.pick([0, 0, 5, 20, 60, 150, 400]) })
  const kill = (who: readonly Who[], when = moment()): Step => ({ do: "kill", who, ...at(), moment: when })

  function fault(): Step[] {
    return random.weighted<() => Step[]>([
      [
        10,
        () => [
          ...(random.chance(0.6) ? [send(count())] : []),
          kill(
            random.pick<readonly Who[]>([
              ["server"],
              ["server"],
              ["daemon"],
              ["agent"],
              ["server", "daemon"],
              ["server", "agent"],
              ["daemon", "agent"],
              ["server", "daemon", "agent"],
            ]),
          ),
        ],
      ],
      [terminals ? 3 : 0, () => terminalFault()],
      [10, () => atPoint(random.pick(expiring && random.chance(0.6) ? KILL_POINTS.put_away : terminals ? POINTS : WITHOUT_TERMINALS))],
      [2, () => [kill(["server"]), { do: "kill while starting", via: at().via, ms: random.between(200, 2500) }]],
      [1, () => [freeze(random.between(100, 1500)), ...(random.chance(0.5) ? [kill(["server"], { ms: 0 })] : [])]],
      // A first message that finds the daemon silent, for longer than it is looked at.
      [sessions < 5 ? 1 : 0, () => [freeze(random.between(1000, 6000)), random.chance(0.5) ? create() : addSession(), send()]],
      [1, () => [{ do: "damage row", session: at().session, nth: random.below(40) }]],
      [overNetwork ? 3 : 0, () => [{ do: "close database", ms: random.pick([200, 1500, 4000, 11_000]) }, act(), act()]],
      [
        expiring ? 4 : 0,
        () => [...putAway(), kill(random.pick([["daemon"], ["daemon"], ["server", "daemon"]]), { ms: random.pick([0, 20, 60, 150]) })],
      ],
    ])()
  }

  /** A terminal in use when something dies, and looked at again. */
  function terminalFault(where = at()): Step[] {
    const dying = kill(random.pick([["server"], ["daemon"], ["daemon"], ["server", "daemon"]]), { ms: random.pick([0, 0, 20, 150]) })
    return [...newTerminal(where), dying, look(where), useTerminal(where)]
  }

  /** At a point, as surely as can be: with a session of its own that is idle and can come back. */
  function visit(point: KillPoint): Step[] {
    // Only the first server's place is armed.
    const where = { session: sessions, via: setting === "separate places" ? 0 : at().via }
    const agent = random.pick<AgentName>(["demo", "demo-inject"])
    const fresh = create(`remember ${word()}`, agent, where.via)
    return [fresh, { do: "await", session: where.session, for: "idle" }, ...atPoint(point, where, 1)]
  }

  const anyOccurrence = () =>
    random.weighted([
      [6, 1],
      [2, 2],
      [1, 5],
      [1, 12],
    ])
  /** Arms the point, and does what leads there. */
  function atPoint(point: KillPoint, where = at(), occurrence = anyOccurrence()): Step[] {
    const arm: Step = { do: "arm", point, occurrence, also: random.chance(0.25) }
    const reached: Step = { do: "await", session: where.session, for: "kill point" }
    const ask = (): Step[] => [
      send(random.chance(0.5) ? runs() : `ask ${word()}?`, where),
      { do: "await", session: where.session, for: "question" },
    ]
    const working = (what = count()): Step[] => [send(what, where), { do: "await", session: where.session, for: "text" }]
    const now: Moment = { ms: 0 }
    const expire = (): Step => ({ do: "await", session: where.session, for: "archive" })
    const leadsThere: Record<KillPoint, () => Step[]> = {
      "boot.leased": () => [arm, kill(["server"], now), send()],
      "append.committed": () => [arm, send(text(), where)],
      "claim.committed": () => [...working(), arm, kill(["server"], now)],
      "reconcile.spool_read": () => [...working(), arm, kill(random.pick([["server"], ["daemon"], ["server", "daemon"]]), now)],
      "adopt.committed": () => [...working(`count 60 40 ${word()}`), arm, kill(["server"], now)],
      "interrupt.committed": () => [...working(), arm, kill(random.pick([["daemon"], ["server", "daemon"]]), now)],
      "launch.spawned": () => [arm, kill(["daemon"], now), send(text(), where)],
      "resume.started": () => [arm, kill(["agent"], now), send(text(), where)],
      "resume.agent_up": () => [arm, kill(random.pick([["agent"], ["daemon"]]), now), send(text(), where)],
      "deliver.committed": () => [arm, send(text(), where)],
      "deliver.accepted": () => [arm, send(text(), where)],
      "ingest.read": () => [arm, send(text(), where)],
      "ingest.committed": () => [arm, send(text(), where)],
      "answer.committed": () => [...ask(), arm, answer(where)],
      "answer.handed_over": () => [...ask(), arm, answer(where)],
      "cancel.committed": () => [...working(), arm, cancel(where)],
      "ack.due": () => [arm, send(count(), where)],
      "ack.sent": () => [arm, send(count(), where)],
      "writer.applied": () => [arm, send(text(), where)],
      "writer.committed": () => [arm, send(text(), where)],
      "worker.raised": () => [arm, ...newTerminal(where)],
      "worker.closed": () => [...newTerminal(where), arm, closeTerminal(where)],
      "pty.divided": () => [...newTerminal(where), kill(["daemon"], now), arm, look(where)],
      "pty.spawned": () => [arm, ...newTerminal(where)],
      "daemon.locked": () => [arm, kill(["daemon"], now), send(text(), where)],
      "daemon.published": () => [arm, kill(["daemon"], now), send(text(), where)],
      "predecessor.ended": () => [...working(), arm, kill(["daemon"], now)],
      "agent.spawned": () => [arm, kill(["agent"], now), send(text(), where)],
      "agent.begun": () => [arm, kill(["agent"], now), send(text(), where)],
      "ledger.recorded": () => [arm, send(text(), where)],
      "prompt.spooled": () => [arm, send(text(), where)],
      "prompt.sent": () => [arm, send(text(), where)],
      "spool.written": () => [arm, send(text(), where)],
      "spool.synced": () => [arm, send(text(), where)],
      "permission.settled": () => [...ask(), arm, answer(where)],
      "exit.spooled": () => [...working(), arm, kill(["agent"], now)],
      "turn.ended": () => [arm, send(text(), where)],
      "reap.claimed": () => [arm, expire()],
      "reap.stopped": () => [arm, expire()],
      "reap.packed": () => [arm, expire()],
      "reap.deleted": () => [arm, expire()],
      "reap.discarded": () => [arm, expire()],
      "restore.accepted": () => [expire(), arm, send(text(), where)],
      "restore.unpacked": () => [expire(), arm, send(text(), where)],
      "restore.told": () => [expire(), arm, send(text(), where)],
    }
    return [...leadsThere[point](), ...(random.chance(0.8) ? [reached] : [])]
  }

  return { create, openTab, life, fault, visit }
}
