export type ResumePlan =
  | { kind: "new" }
  | { kind: "native"; agent_session_id: string }
  | { kind: "inject" }
  | { kind: "idle" }
  /** Nothing may be started without the user's word: it would be a stranger in the old one's place. */
  | { kind: "impossible" }

export type ResumeFacts = {
  /** A first start is no resume. */
  had_agent: boolean
  agent_session_id: string | null
  /** What the live agent said last. */
  native: boolean
  injects: boolean
  /** Asked for by a person: start without memory. */
  fresh: boolean
  /** Ways that were tried in this resume and refused. */
  refused: ReadonlySet<"native" | "inject">
}

/** How to bring an agent up when its process is gone: the best way that has not failed yet. Decides only; `startAgent` carries it out. */
export function planResume(facts: ResumeFacts): ResumePlan {
  if (!facts.had_agent) return { kind: "new" }
  if (facts.fresh) return { kind: "idle" }
  if (facts.native && facts.agent_session_id && !facts.refused.has("native"))
    return { kind: "native", agent_session_id: facts.agent_session_id }
  if (facts.injects && !facts.refused.has("inject")) return { kind: "inject" }
  return facts.refused.size > 0 ? { kind: "idle" } : { kind: "impossible" }
}
