import type { ExecutorRunning } from "../platform/database"

export type ResumePlan =
  | { kind: "new" }
  | { kind: "native"; agent_session_id: string }
  | { kind: "inject" }
  | { kind: "idle" }
  /** Nothing may be started without the user's word: it would be a stranger in the old one's place. */
  | { kind: "impossible" }

export type ComebackFacts = {
  /** A first start is no resume. */
  had_agent: boolean
  agent_session_id: string | null
  /** What the live agent said last. */
  native: boolean
  injects: boolean
}
export type ResumeFacts = ComebackFacts & {
  /** Asked for by a person: start without memory. */
  fresh: boolean
  /** Ways that were tried in this resume and refused. */
  refused: ReadonlySet<"native" | "inject">
}

/**
 * How to bring an agent up when its process is gone: the best way that has not failed yet. The one judgement of it: what is
 * shown (`resumeOutlook`), accepted (`append`), brought back at a start and carried out (`startAgent`) all ask here.
 */
export function planResume(facts: ResumeFacts): ResumePlan {
  if (!facts.had_agent) return { kind: "new" }
  if (facts.fresh) return { kind: "idle" }
  if (facts.native && facts.agent_session_id && !facts.refused.has("native"))
    return { kind: "native", agent_session_id: facts.agent_session_id }
  if (facts.injects && !facts.refused.has("inject")) return { kind: "inject" }
  // An agent that can load and has no id to load had one that was refused or put aside: that was told, and a message goes on without it.
  if (facts.refused.size > 0 || facts.native) return { kind: "idle" }
  return { kind: "impossible" }
}

/** As things stand: nothing was tried yet, and nobody asked for a fresh start. */
export const planAsItStands = (facts: ComebackFacts): ResumePlan => planResume({ ...facts, fresh: false, refused: new Set() })

/** An agent has answered here before; the next one is not its first. */
export const hadAgent = (executor: Pick<ExecutorRunning, "supports_session_resume">) => executor.supports_session_resume !== null

/** What is known of how this executor's agent can come back; `injects` is its profile's. */
export const comebackFacts = (
  executor: Pick<ExecutorRunning, "supports_session_resume" | "resume_token">,
  injects: boolean,
): ComebackFacts => ({
  had_agent: hadAgent(executor),
  agent_session_id: executor.resume_token,
  native: executor.supports_session_resume === 1,
  injects,
})
