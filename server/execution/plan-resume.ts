export type ResumePlan =
  | { kind: "new" }
  | { kind: "native"; agent_session_id: string }
  | { kind: "inject" }
  | { kind: "idle" }
  | { kind: "impossible" }

export type ResumeFacts = {
  had_agent: boolean
  agent_session_id: string | null
  /** What the live agent said last; the profile's word until then. */
  native: boolean
  injects: boolean
  /** Asked for by a person, or the better ways were tried and failed. */
  fresh: boolean
}

/** How to bring an agent up again. Decides only; the coordinator carries it out. */
export function planResume(facts: ResumeFacts): ResumePlan {
  if (!facts.had_agent) return { kind: "new" }
  if (facts.fresh) return { kind: "idle" }
  if (facts.native && facts.agent_session_id) return { kind: "native", agent_session_id: facts.agent_session_id }
  if (facts.injects) return { kind: "inject" }
  return { kind: "impossible" }
}
