import { setTimeout as delay } from "node:timers/promises"
import { SignInMethod } from "../../lib/contracts/agent-setup"
import { isAppError } from "../../lib/contracts/errors"
import type { NewEvent, ReceiptFiles } from "../../lib/contracts/events"
import { killPoint } from "../../lib/host/kill-point"
import { DaemonRefused, DaemonUnreachable, LaunchFailed } from "../executors"
import { ids } from "../platform/ids"
import { isDatabaseAway } from "../platform/storage-trouble"
import { comebackFacts, planResume, type ResumePlan } from "../status"
import type { Attached, ExecutionDeps, Live } from "./context"
import { AgentForgot, hasForgotten } from "./forgotten"
import { chosenOptions, refusalNotes, settled, wantedOptions } from "./options"
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
    /** The way of signing in that a person chose. */
    sign_in: string | null
    /** The session's change of state. In the receipt's commit: otherwise the log says that the agent is back while the session is STARTING. */
    takesMessages: (cause: StartResult["outcome"]) => NewEvent[]
  },
  commit: (events: NewEvent[]) => Promise<unknown>,
): Promise<StartResult> {
  const { session, executor } = loaded
  const injects = deps.agents.get(session.agent).history_context_injection
  const attempts: Attempt[] = []
  const refused = new Set<"native" | "inject">()
  const chosen = chosenOptions(executor)
  let retries = 0
  if (options.fresh) await leaveOldAgent(live, executor.resume_token, attached, commit)

  for (;;) {
    const plan = planResume({ ...comebackFacts(executor, injects), fresh: options.fresh, refused })
    const came = (strategy: keyof typeof MEMORY) => resumeReceipt(deps, session.id, strategy, options, attempts)
    if (plan.kind === "impossible") {
      if (options.restored) await commit([await came("idle"), ...options.takesMessages("not_resumable")])
      return { outcome: "not_resumable" }
    }
    try {
      if (plan.kind !== "new") await commit([{ kind: "resume.started", strategy: plan.kind }])
      killPoint("resume.started")
      const answer = await launch(deps, live, loaded, attached, plan, options.sign_in)
      const { recollection, transcript_findings = [], refused_options: refusals = [] } = answer
      if (plan.kind === "native" && (await hasForgotten(deps, session.id, plan.agent_session_id, recollection))) {
        await attached.client.stopAgent(session.id, live.owned.epoch)
        throw new AgentForgot(session.agent)
      }
      const notes = [...transcript_findings, ...refusalNotes(refusals)]
      attempts.push({ strategy: plan.kind, outcome: "ok", ...(notes.length > 0 ? { notes } : {}) })
      const receipt = plan.kind === "new" ? [] : [await came(plan.kind)]
      await commit([...settled(chosen, refusals), ...receipt, ...options.takesMessages("started")])
      return { outcome: "started" }
    } catch (error) {
      // Nothing was found out about the agent, which may be up: called failed, a person would be told what is not so.
      if (isDatabaseAway(error)) throw error
      const { reason: said, message } = describeFailure(error)
      const trouble = deps.agents.trouble(session.agent, message)
      // A missing sign-in or a rate limit says nothing about the conversation, in whatever error the agent wraps it.
      const reason = said === "agent_session_rejected" && trouble === "unknown_session" ? said : (trouble ?? said)
      deps.logger.warn({ session: session.id, strategy: plan.kind, reason, err: error }, "agent did not start")
      attempts.push({ strategy: plan.kind, outcome: reason })
      const rejected = plan.kind === "native" && (reason === "agent_session_rejected" || error instanceof AgentForgot)
      // A person who has signed in once is not asked again and again by itself.
      const hopeless = rejected || trouble === "sign_in_needed" || options.sign_in !== null
      const again = !hopeless && isPassing(error) && retries < deps.max_retries && !live.cancelled
      await commit([
        { kind: "resume.failed", strategy: plan.kind, reason: message, retryable: again },
        ...retired(plan, rejected, message),
        ...(reason === "sign_in_needed" ? [signInRequired(message, error)] : []),
      ])
      if (rejected) refused.add("native")
      else if (again) await delay(FIRST_BACK_OFF_MS * 2 ** retries++)
      else return { outcome: "failed", reason, message }
    }
  }
}

async function launch(
  deps: ExecutionDeps,
  live: Live,
  { session, executor }: LoadedSession,
  attached: Attached,
  plan: ResumePlan,
  sign_in: string | null,
) {
  const { ref, epoch } = live.owned
  const agent = await deps.agents.require(session.agent)
  if (sign_in !== null) live.stopSigningIn = () => attached.client.stopAgent(ref.id, epoch)
  const put = attached.client.putAgent(ref.id, epoch, {
    agent_execution_id: ids.execution(),
    command: agent.command.program,
    args: [...agent.command.args],
    env: agent.env,
    options: wantedOptions(executor),
    mcp_servers: await deps.mcpServers.given(),
    ...(sign_in === null ? {} : { sign_in }),
    ...(plan.kind === "native"
      ? {
          start: { kind: "continue", agent_session_id: plan.agent_session_id },
          session_files: deps.agents.sessionFiles(session.agent, plan.agent_session_id, executor.workspace_path),
        }
      : { start: { kind: "new" } }),
  })
  const answer = await put.finally(() => {
    live.stopSigningIn = null
  })
  killPoint("resume.agent_up")
  await deps.agents.observed(session.agent, answer.capabilities.load || answer.capabilities.resume).catch((error) => {
    deps.logger.warn({ agent: session.agent, err: error }, "what the agent can do was not remembered")
  })
  const { head } = await attached.client.session(ref.id)
  await attached.reader.caughtUpTo(head)
  return answer
}

/** Its own ways of signing in, as far as it lived long enough to name them. */
function signInRequired(message: string, error: unknown): NewEvent {
  const methods = SignInMethod.array().safeParse(error instanceof DaemonRefused ? error.body.sign_in : [])
  return { kind: "agent.sign_in_required", message, methods: methods.success ? methods.data : [] }
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
