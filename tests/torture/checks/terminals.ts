import type { Evidence, Finding, SessionEvidence } from "../evidence"
import { traitsOf } from "../schedule"
import type { Attachment, TerminalViewer } from "../terminal-viewer"
import type { World, WorldTerminal } from "../world"

const STREAM = "T1 a terminal's output is one stream"
const LINES = "T2 what is typed is carried out once"
const PROCESSES = "T3 one process for a terminal, none for a closed one"
const SURVIVAL = "T4 a terminal outlives the server"

/** What pages were shown fits together, and with what there is; what was typed was carried out once, and by whom it was typed for. */
export function checkTerminals({ world, sessions }: Evidence): Finding[] {
  return sessions.flatMap((evidence) =>
    evidence.session.terminals.flatMap((terminal) => {
      const where = `${evidence.name}, terminal ${terminal.id}`
      const findings: Finding[] = []
      const finding = (invariant: string, expected: string, found: string) => findings.push({ invariant, where, expected, found })
      if (terminal.closed && !evidence.closed.has(terminal.id)) finding(PROCESSES, "closed, as was answered", "open")
      const pages = [...terminal.viewers, ...(terminal.looker ? [terminal.looker] : [])]
      for (const viewer of pages) for (const broken of brokenIn(viewer)) finding(STREAM, broken.expected, broken.found)
      for (const differs of differencesOf(terminal)) finding(STREAM, differs.expected, differs.found)
      checkLines(world, evidence, terminal, (expected, found) => finding(LINES, expected, found))
      checkDividers(terminal, (expected, found) => finding(SURVIVAL, expected, found))
      const epochs = pages.flatMap(({ attachments }) => attachments.map(({ epoch }) => epoch))
      if (!mayHaveEnded(world, terminal) && epochs.some((epoch) => epoch > 1)) finding(SURVIVAL, "the first process", `epochs ${epochs}`)
      return findings
    }),
  )
}

type Differs = { expected: string; found: string }

/** Each attachment begins where it was asked to, and every piece where the one before it ended. */
function brokenIn({ attachments }: TerminalViewer): Differs[] {
  return attachments.flatMap(({ asked, offset, epoch, pieces }): Differs[] => {
    let at = offset
    for (const piece of pieces) {
      if (piece.offset !== at) return [{ expected: `output from ${at}`, found: `from ${piece.offset}` }]
      if (piece.epoch !== epoch) return [{ expected: `output of epoch ${epoch}`, found: `of ${piece.epoch}` }]
      at += piece.data.length
    }
    return asked !== null && offset > asked ? [{ expected: `an attachment from ${asked}`, found: `from ${offset}` }] : []
  })
}

/** Whoever was shown an offset was shown the same bytes there, within one life of the executor. */
function differencesOf({ viewers, looker }: WorldTerminal): Differs[] {
  const attachments = [...(looker ? [looker] : []), ...viewers].flatMap((viewer) => viewer.attachments)
  const known = new Map<number, Buffer>()
  const byLength = attachments.map((one) => ({ one, bytes: bytesOf(one) })).sort((a, b) => a.one.offset - b.one.offset)
  return byLength.flatMap(({ one, bytes }): Differs[] => {
    const before = known.get(one.generation) ?? Buffer.alloc(one.offset)
    const shared = before.subarray(one.offset, one.offset + bytes.length)
    const at = shared.findIndex((byte, i) => byte !== bytes[i])
    if (one.offset + bytes.length > before.length && one.offset <= before.length)
      known.set(one.generation, Buffer.concat([before.subarray(0, one.offset), bytes]))
    const around = (all: Buffer) => `${JSON.stringify(all.subarray(Math.max(at - 40, 0), at + 40).toString("utf8"))} at ${one.offset + at}`
    return at < 0 ? [] : [{ expected: around(Buffer.from(shared)), found: around(bytes) }]
  })
}

const bytesOf = ({ pieces }: Attachment) => Buffer.concat(pieces.map(({ data }) => data))

function checkLines(
  world: World,
  { typedOut, closed }: SessionEvidence,
  terminal: WorldTerminal,
  finding: (expected: string, found: string) => void,
) {
  const now = terminal.looker?.current
  const shown = now ? bytesOf(now).toString("utf8") : ""
  for (const { word, line, generation, epoch, taken } of world.typed.filter(({ worker_id }) => worker_id === terminal.id)) {
    if (line === "exit") continue
    const times = typedOut.filter((written) => written === word).length
    const printed = shown.split(`<${word}>`).length - 1
    if (times > 1 || printed > 1) finding(`"${word}" carried out once`, `${times} times, printed ${printed} times`)
    const lives = now && now.generation === generation && now.epoch === epoch && !closed.has(terminal.id)
    if (lives && taken && times + printed !== 2)
      finding(`"${word}", which was taken, carried out`, `${times} times, printed ${printed} times`)
    if (taken === false && times > 0) finding(`"${word}" refused`, "it was carried out")
  }
}

/** Above every process but the first there is what was there before, and a line below it. */
function checkDividers({ looker }: WorldTerminal, finding: (expected: string, found: string) => void): void {
  const now = looker?.current
  if (!now) return
  const dividers = bytesOf(now).toString("utf8").split("─── restored ").length - 1
  if (now.offset !== 0) finding("all its output from 0", `from ${now.offset}`)
  if (dividers < now.epoch - 1) finding(`a divider above each of ${now.epoch - 1} later processes`, `${dividers}`)
}

/** Its daemon may have died with it, a person may have ended it, or its task was put away. */
const mayHaveEnded = (world: World, { id }: WorldTerminal) =>
  traitsOf(world.place.setting).expiring === true ||
  world.endedByPerson ||
  world.deaths.some(({ who }) => who === "daemon") ||
  world.typed.some(({ worker_id, line }) => worker_id === id && line === "exit")

/** A shell whose daemon died goes with it; the jobs it had started may stay for as long as the terminal is open. */
export function checkTerminalProcesses({ sessions, processes, daemonPids }: Evidence): Finding[] {
  return sessions.flatMap(({ name, session, closed, rows }) =>
    session.terminals.flatMap(({ id, looker }): Finding[] => {
      const own = processes.filter(({ worker_id }) => worker_id === id)
      const shells = own.filter(({ command }) => !command.startsWith("sleep "))
      const gone = closed.has(id) || rows.executor.status === "deleted"
      const right = gone ? own.length === 0 : shells.length <= 1 && shells.every(({ parent }) => daemonPids.includes(parent))
      const missing = !gone && looker?.state === "live" && shells.length === 0
      if (right && !missing) return []
      const expected = gone ? "no process" : `one child of daemon ${daemonPids}`
      const found = own.map(({ pid, parent, command }) => `${pid} (parent ${parent}) ${command}`).join("; ") || "none"
      return [{ invariant: PROCESSES, where: `${name}, terminal ${id}`, expected, found }]
    }),
  )
}
