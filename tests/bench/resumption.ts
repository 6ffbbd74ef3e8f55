import type { EventOf } from "../../lib/contracts/events"
import { follow, type Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"
import type { Figure } from "./main"
import { median, ms, times } from "./words"

export type Announced = { agentSessionId: string; started: EventOf<"agent.started"> }

/** From the click until the agent is ready, beside the same agent taken up by itself. They take turns. */
export async function measureResumption(
  rewake: Rewake,
  sessionId: string,
  options: { what: string; rounds: number; patienceMs: number; bare: (announced: Announced) => Promise<number> },
): Promise<Figure> {
  const viewer = follow(rewake, sessionId)
  const count = (kind: string) => viewer.seen.filter((event) => event.kind === kind).length
  const more = (kind: string, than: number) => waitUntil(() => count(kind) > than, kind, options.patienceMs)
  await more("run.completed", 0)
  const last = <K extends "agent.started" | "agent.session_announced">(kind: K) =>
    viewer.seen.findLast((event) => event.kind === kind) as EventOf<K>
  const ours: number[] = []
  const bare: number[] = []
  for (let round = 0; round < options.rounds; round++) {
    const exits = count("agent.exited")
    await rewake.api("POST", `/api/v1/sessions/${sessionId}/stop`)
    await more("agent.exited", exits)
    bare.push(await options.bare({ agentSessionId: last("agent.session_announced").agent_session_id, started: last("agent.started") }))
    const starts = count("agent.started")
    const clicked = performance.now()
    const ready = new Promise<number>((resolve) =>
      viewer.socket.once("session.event", function next(event: { kind: string }) {
        if (event.kind === "agent.started") resolve(performance.now())
        else viewer.socket.once("session.event", next)
      }),
    )
    await rewake.api("POST", `/api/v1/sessions/${sessionId}/resume`, {})
    ours.push((await ready) - clicked)
    await more("agent.started", starts)
  }
  const [a, b] = [median(ours), median(bare)]
  return {
    what: options.what,
    ours: ms(a),
    baseline: `${ms(b)} bare spawn, initialize, load`,
    ratio: `${times(a, b)} (${ms(a - b)} more)`,
    aim: "≤ 1.15× + 50 ms",
  }
}
