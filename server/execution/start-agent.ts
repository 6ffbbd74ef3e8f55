import { setTimeout as delay } from "node:timers/promises"
import { isAppError } from "../../lib/contracts/errors"
import type { NewEvent, ReceiptFiles } from "../../lib/contracts/events"
import type { AgentId } from "../../lib/contracts/task"
import { killPoint } from "../../lib/host/kill-point"
import { DaemonRefused, DaemonUnreachable, LaunchFailed } from "../executors"
import { ids } from "../platform/ids"
import { comebackFacts, planResume, type ResumePlan } from "../status"
import type { Attached, ExecutionDeps, Live } from "./context"
import { AgentForgot, conversed, showsNothing } from "./forgotten"
import { type Attempt, receipt } from "./receipt"
import type { LoadedSession } from "./session-facts"
import { shellsOf } from "./terminals"

const FIRST_BACK_OFF_MS = 250

export type StartResult = { outcome: "started" | "not_resumable" } | { outcome: "failed"; reason: string; message: string }

/**
 * Starts the session's agent the best way there is, each way falling to the next when the agent itself refuses it. What could
 * be a passing trouble is tried again; a transport failure never costs the agent its session id.
 */
export async function startAgent(
  deps: ExecutionDeps,
  live: Live,
  loaded: LoadedSession,
  attached: Attached,
  options: {
    fresh: boolean
    /** When the waking began; the receipt counts from there. */
    started: number
    /** What became of the files, when this is the end of a restore. */
    restored: ReceiptFiles | null
  },
  commit: (events: NewEvent[]) => Promise<unknown>,
): Promise<StartResult> {
  const { session, executor } = loaded
  const injects = deps.agents.get(session.agent).history_context_injection
  const attempts: Attempt[] = []
  const refused = new Set<"native" | "inject">()
  let retries = 0
  if (options.fresh) await leaveOldAgent(live, executor.resume_token, attached, commit)

  for (;;) {
    const plan = planResume({ ...comebackFacts(executor, injects), fresh: options.fresh, refused })
    const came = (strategy: keyof typeof MEMORY) => resumeReceipt(deps, session.id, strategy, options, attempts)
    if (plan.kind === "impossible") {
      if (options.restored) await commit([await came("idle")])
      return { outcome: "not_resumable" }
    }
    try {
      if (plan.kind !== "new") await commit([{ kind: "resume.started", strategy: plan.kind }])
      killPoint("resume.started")
      const { recollection, transcript_findings: notes } = await launch(deps, live, session.agent, attached, plan, executor.workspace_path)
      if (plan.kind === "native" && showsNothing(recollection) && (await conversed(deps, session.id, plan.agent_session_id))) {
        await attached.client.stopAgent(session.id, live.owned.epoch)
        throw new AgentForgot(session.agent)
      }
      attempts.push({ strategy: plan.kind, outcome: "ok", ...(notes ? { notes } : {}) })
      if (plan.kind !== "new") await commit([await came(plan.kind)])
      return { outcome: "started" }
    } catch (error) {
      const { reason: said, message } = describeFailure(error)
      const trouble = deps.agents.trouble(session.agent, message)
      // A missing sign-in or a rate limit says nothing about the conversation, in whatever error the agent wraps it.
      const reason = said === "agent_session_rejected" && trouble === "unknown_session" ? said : (trouble ?? said)
      deps.logger.warn({ session: session.id, strategy: plan.kind, reason, err: error }, "agent did not start")
      attempts.push({ strategy: plan.kind, outcome: reason })
      const rejected = plan.kind === "native" && (reason === "agent_session_rejected" || error instanceof AgentForgot)
      const again = !rejected && isPassing(error) && trouble !== "sign_in_needed" && retries < deps.max_retries && !live.cancelled
      await commit([{ kind: "resume.failed", strategy: plan.kind, reason: message, retryable: again }, ...retired(plan, rejected, message)])
      if (rejected) refused.add("native")
      else if (again) await delay(FIRST_BACK_OFF_MS * 2 ** retries++)
      else return { outcome: "failed", reason, message }
    }
  }
}

async function launch(deps: ExecutionDeps, live: Live, agentId: AgentId, attached: Attached, plan: ResumePlan, workspace: string | null) {
  const { ref, epoch } = live.owned
  const agent = await deps.agents.require(agentId)
  const answer = await attached.client.putAgent(ref.id, epoch, {
    agent_execution_id: ids.execution(),
    command: agent.command.program,
    args: [...agent.command.args],
    env: agent.env,
    ...(plan.kind === "native"
      ? {
          start: { kind: "continue", agent_session_id: plan.agent_session_id },
          session_files: deps.agents.sessionFiles(agentId, plan.agent_session_id, workspace),
        }
      : { start: { kind: "new" } }),
  })
  killPoint("resume.agent_up")
  await deps.agents.observed(agentId, answer.capabilities.load || answer.capabilities.resume).catch((error) => {
    deps.logger.warn({ agent: agentId, err: error }, "what the agent can do was not remembered")
  })
  const { head } = await attached.client.session(ref.id)
  await attached.reader.caughtUpTo(head)
  return answer
}

/** "Start fresh": the old agent ends, its id is put aside, not forgotten. */
async function leaveOldAgent(live: Live, oldId: string | null, attached: Attached, commit: (events: NewEvent[]) => Promise<unknown>) {
  await attached.client.stopAgent(live.owned.ref.id, live.owned.epoch)
  if (oldId) await commit([{ kind: "agent.session_retired", agent_session_id: oldId, reason: "fresh_start" }])
}

const retired = (plan: ResumePlan, rejected: boolean, reason: string): NewEvent[] =>
  rejected && plan.kind === "native" ? [{ kind: "agent.session_retired", agent_session_id: plan.agent_session_id, reason }] : []

const MEMORY = { native: "native", inject: "injected", idle: "none" } as const

const resumeReceipt = async (
  deps: ExecutionDeps,
  sessionId: string,
  strategy: keyof typeof MEMORY,
  { started, restored }: { started: number; restored: ReceiptFiles | null },
  attempts: Attempt[],
) =>
  receipt(deps, sessionId, {
    receipt_kind: restored ? "restore" : "resume",
    level: strategy === "idle" ? "L2" : "L3",
    agent_memory: MEMORY[strategy],
    files: restored ?? "kept",
    processes: [{ what: "agent", outcome: "ended" }, ...(restored ? await shellsOf(deps, sessionId) : [])],
    took_ms: Math.round(performance.now() - started),
    attempts,
  })

/** Worth another try: nothing says that it would fail again. */
const isPassing = (error: unknown) =>
  error instanceof DaemonUnreachable || (error instanceof DaemonRefused && error.code === "AGENT_START_FAILED")

export function describeFailure(error: unknown): { reason: string; message: string } {
  if (error instanceof LaunchFailed) return { reason: error.reason, message: error.message }
  if (error instanceof AgentForgot) return { reason: "agent_session_forgotten", message: error.message }
  if (error instanceof DaemonRefused) return { reason: error.code.toLowerCase(), message: error.message }
  if (isAppError(error)) return { reason: error.code.toLowerCase(), message: error.message }
  return { reason: "unreachable", message: error instanceof Error ? error.message : String(error) }
}
