import { isPutAway } from "../../server/status"
import type { TerminalStep } from "./schedule"
import { TerminalViewer } from "./terminal-viewer"
import { pause, SLOW_LOOK_MS, untilOrNever } from "./wait"
import type { World, WorldSession, WorldTerminal } from "./world"

/** What people do with a session's terminals. Where there is none, or no page shows it, what cannot be done is left out. */
export async function performAtTerminal(world: World, session: WorldSession, step: TerminalStep): Promise<void> {
  const of = `/api/v1/sessions/${session.id}/workers`
  if (step.do === "open terminal") {
    const answer = await world.place.call<{ worker: { id: string } }>(step.via, "POST", of, { type: "terminal" })
    world.judge("opening a terminal", answer?.status ?? null, answer?.body)
    if (answer?.status === 201) session.terminals.push({ id: answer.body.worker.id, closed: false, viewers: [], looker: null })
    return
  }
  const open = session.terminals.filter(({ closed }) => !closed)
  const terminal = open[step.terminal % Math.max(open.length, 1)]
  if (!terminal) return
  switch (step.do) {
    case "look": {
      const shown = terminal.viewers.find(({ state }) => state !== "gone")
      if (step.from === "where it was" && shown) shown.attach()
      else terminal.viewers.push(pageOf(world, session, terminal, step.via, step.from === "beginning" ? "beginning" : "screen"))
      await untilOrNever(() => world.place.hasFired() || terminal.viewers.some(({ state }) => state === "live"))
      return
    }
    case "type": {
      const viewer = await liveViewer(terminal)
      if (!viewer?.current) return
      const { generation, epoch } = viewer.current
      const line = { worker_id: terminal.id, line: step.line, word: step.word, generation, epoch, taken: null as boolean | null }
      world.typed.push(line)
      line.taken = await viewer.type(`${lineOf(step)}\r`)
      world.say(`  → ${line.taken === null ? "no answer" : line.taken ? "taken" : "refused"}`)
      return
    }
    case "resize":
      ;(await liveViewer(terminal))?.resize(step.cols, step.rows)
      return
    case "close terminal": {
      const answer = await world.place.call(step.via, "DELETE", `${of}/${terminal.id}`)
      world.judge("closing a terminal", answer?.status ?? null, answer?.body)
      if (answer?.status === 204) terminal.closed = true
    }
  }
}

/** Carried out, a line leaves its word in a file and, made up by the shell, on the screen; its echo looks different. */
function lineOf({ line, word }: Extract<TerminalStep, { do: "type" }>): string {
  if (line === "exit") return "exit"
  return `${line === "job" ? "sleep 1000 & " : ""}echo ${word} >> typed.txt; printf '<%s>\\n' ${word}`
}

const pageOf = ({ place }: World, session: WorldSession, { id }: WorldTerminal, via: number, from: "screen" | "beginning") =>
  new TerminalViewer(place.server(via).socket(), { session_id: session.id, worker_id: id }, from)

async function liveViewer(terminal: WorldTerminal): Promise<TerminalViewer | undefined> {
  const live = () => terminal.viewers.findLast(({ state }) => state === "live")
  if (terminal.viewers.length > 0) await untilOrNever(() => live() !== undefined)
  return live()
}

/**
 * After the faults somebody looks at every terminal from its beginning, also at those whose 201 never arrived. Whoever comes gets a
 * process, unless the task was put away. Returns what could not be looked at.
 */
export async function lookAtTerminals(world: World, limitMs: number): Promise<string[]> {
  const stuck: string[] = []
  for (const session of world.sessions) {
    for (const { id, closed_at } of await world.place.db.worker.findMany({ where: { session_id: session.id, type: "terminal" } })) {
      const known = session.terminals.find((one) => one.id === id)
      const terminal: WorldTerminal = known ?? { id, closed: closed_at !== null, viewers: [], looker: null }
      if (!known) session.terminals.push(terminal)
      if (closed_at !== null) continue
      terminal.looker = pageOf(world, session, terminal, 0, "beginning")
      const failed = await untilShown(world, session, terminal, Date.now() + limitMs)
      if (failed) stuck.push(`${world.nameOf(session.id)}, terminal ${id}: ${failed}`)
    }
  }
  return stuck
}

async function untilShown({ place }: World, session: WorldSession, terminal: WorldTerminal, deadline: number): Promise<string | null> {
  const { looker, viewers } = terminal
  if (!looker) return null
  for (; Date.now() < deadline; await pause(SLOW_LOOK_MS)) {
    const executor = await place.db.executorRunning.findUniqueOrThrow({ where: { session_id: session.id } })
    if (isPutAway(executor) || executor.status === "none") return null
    const head = (await place.daemonTerminals(session.id)).find(({ worker_id }) => worker_id === terminal.id)?.head
    const shown = [looker, ...viewers].every((viewer) => viewer.state === "ended" || (viewer.state === "live" && viewer.end >= (head ?? 0)))
    if (head !== undefined && looker.state === "live" && shown) return null
  }
  return [looker, ...viewers].map((viewer) => `${viewer.state} at ${viewer.end} ${viewer.refusal}`).join("; ")
}
