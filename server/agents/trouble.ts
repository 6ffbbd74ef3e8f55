import type { AgentDefinition, Trouble } from "./agent"

/** In this order: an unknown session is often wrapped in an internal error that also carries numbers. */
const COMMON: AgentDefinition["trouble"] = [
  {
    says: /\(-32000\)|auth(entication)?[ _](is )?required|not (logged|signed) in|please (log|sign) ?in|run .{0,20}\/login/i,
    means: "sign_in_needed",
  },
  {
    says: /invalid (x-)?api[ _-]?key|incorrect api key|missing api key|api key not (found|set)|\b401\b|unauthori[sz]ed/i,
    means: "sign_in_needed",
  },
  { says: /rate.?limit|too many requests|\b429\b|overloaded|\b529\b|quota|usage limit/i, means: "rate_limited" },
  {
    says: /context[ _](length|window)|maximum context|prompt is too long|input is too long|too many tokens|context_length_exceeded/i,
    means: "context_too_long",
  },
  {
    says: /\(-32002\)|(session|conversation|thread|rollout|resource) .{0,60}not found|no (session|conversation|rollout) .{0,20}found/i,
    means: "unknown_session",
  },
]

/** Agents have no common errors: what one says is told apart by its text. */
export function troubleOf(agent: Pick<AgentDefinition, "trouble">, message: string): Trouble | null {
  return [...agent.trouble, ...COMMON].find(({ says }) => says.test(message))?.means ?? null
}
