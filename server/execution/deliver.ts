import { setTimeout as delay } from "node:timers/promises"
import type { PutPrompt } from "../../lib/contracts/agentctl/protocol"
import { killPoint } from "../../lib/host/kill-point"
import { type AgentctlClient, DaemonRefused, DaemonUnreachable } from "../executors"
import { guard, isConflict } from "../journal"
import type { Prompt } from "../platform/database"
import { ids } from "../platform/ids"
import { openItemsOf } from "./attach"
import { bodyHash, carryAttachments } from "./attachments"
import type { ExecutionDeps, Live } from "./context"
import { effectiveContent } from "./effective-content"
import { endRun } from "./interpret"
import { stillOwned } from "./ownership"
import { messageOf } from "./prompt-message"
import { type LoadedSession, loadSession, toFacts } from "./session-facts"
import { taskAtRest, taskAtWork } from "./task-rows"

const BUSY_RETRIES = 20
const BUSY_RETRY_MS = 100

/** Why a message is held; `heldSentence` says it. */
const UNREADABLE = "unreadable"

/** `heard_before`: the daemon had this prompt already, and it is neither at work on it nor has it told of an end. */
export type Delivery = "accepted" | "lost_the_race" | "no_agent" | "unreachable" | "heard_before"

/**
 * The hand-over. The journal says "delivering" before the daemon hears of the prompt, and the daemon keeps the id for ever, so
 * repeating it to the same spool is harmless; to any other place it is never repeated.
 */
export async function deliver(
  deps: ExecutionDeps,
  live: Live,
  client: AgentctlClient,
  prompt: Prompt,
  spool_id: string,
): Promise<Delivery> {
  const loaded = await loadSession(deps.db, live.owned.ref.id)
  if (!loaded) return "lost_the_race"
  const message = messageOf(prompt)
  if (message === null) return holdUnreadable(deps, live, prompt)
  const run_id = ids.run()
  // Before anything is said to be on its way: a daemon that cannot be reached leaves the message where it is.
  const body = await bodyFor(deps, live, client, loaded, prompt, message)
  if (body === null) return "unreachable"
  const body_sha256 = bodyHash(body)
  const now = deps.clock.now().toISOString()
  try {
    await deps.journal.commit({
      session: live.owned.ref,
      // An edit that was answered with success must be what the agent gets.
      guards: [stillOwned(live.owned), guard("prompts", { id: prompt.id, content: prompt.content })],
      rows: [taskAtWork(live.owned.ref.task_id, now)],
      events: [
        { kind: "prompt.delivering", prompt_id: prompt.id, run_id, spool_id, body_sha256 },
        { kind: "run.started", run_id, boot_id: deps.boot_id, prompt_id: prompt.id },
        { kind: "session.state_changed", from: "WAITING_FOR_INPUT", to: "RUNNING", cause: "prompt" },
        { kind: "status.derived", status: "running" },
      ],
    })
  } catch (error) {
    // Edited, withdrawn or reordered in this very moment: look at the queue again.
    if (isConflict(error)) return "lost_the_race"
    throw error
  }
  killPoint("deliver.committed")
  return handOver(live, client, { id: prompt.id, run_id, ...body, body_sha256, spool_id })
}

/** What its row says cannot be read any more: nothing is delivered in its place, and a person decides. The others go on. */
async function holdUnreadable(deps: ExecutionDeps, live: Live, { id }: Prompt): Promise<Delivery> {
  try {
    await deps.journal.commit({
      session: live.owned.ref,
      guards: [stillOwned(live.owned)],
      events: [{ kind: "prompt.held", prompt_id: id, reason: UNREADABLE }],
    })
  } catch (error) {
    // Edited or withdrawn in this very moment.
    if (!isConflict(error)) throw error
  }
  return "lost_the_race"
}

/** Text and attachments as the agent is to get them; the attachments are with its daemon then. Null: no answer. */
async function bodyFor(
  deps: ExecutionDeps,
  live: Live,
  client: AgentctlClient,
  loaded: LoadedSession,
  prompt: Prompt,
  message: string,
): Promise<Pick<PutPrompt, "content" | "attachments"> | null> {
  try {
    const { attachments, words } = await carryAttachments(deps, live, client, prompt)
    const text = [message, ...words].filter((part) => part !== "").join("\n\n")
    const content = await effectiveContent(deps, loaded, text)
    return { content, ...(attachments.length > 0 ? { attachments } : {}) }
  } catch (error) {
    if (error instanceof DaemonUnreachable) return null
    throw error
  }
}

async function handOver(live: Live, client: AgentctlClient, prompt: PutPrompt & { id: string }): Promise<Delivery> {
  const { id: promptId, ...body } = prompt
  for (let tries = 1; ; tries++) {
    try {
      const { duplicate } = await client.putPrompt(live.owned.ref.id, live.owned.epoch, promptId, body)
      killPoint("deliver.accepted")
      return duplicate ? "heard_before" : "accepted"
    } catch (error) {
      if (error instanceof DaemonUnreachable) return "unreachable"
      if (!(error instanceof DaemonRefused)) throw error
      if (error.code === "AGENT_NOT_RUNNING") return "no_agent"
      // The same message in other words, with or without the history in front: the agent had it all the same.
      if (error.code === "PROMPT_MISMATCH") return "heard_before"
      if (error.code === "AGENT_BUSY" && tries < BUSY_RETRIES) {
        await delay(BUSY_RETRY_MS)
        continue
      }
      throw error
    }
  }
}

/** The same hand-over again, of a prompt whose "delivering" is in the journal and which its spool has not seen. */
export async function handOverAgain(deps: ExecutionDeps, live: Live, client: AgentctlClient, loaded: LoadedSession): Promise<Delivery> {
  const { runPrompt: prompt, session } = loaded
  if (!prompt?.spool_id || !prompt.body_sha256 || !session.open_run_id) return "no_agent"
  // The agent would be given another text than the journal says it was.
  const message = messageOf(prompt)
  if (message === null) return "no_agent"
  const body = await bodyFor(deps, live, client, loaded, prompt, message)
  if (body === null) return "unreachable"
  return handOver(live, client, {
    id: prompt.id,
    run_id: session.open_run_id,
    ...body,
    body_sha256: prompt.body_sha256,
    spool_id: prompt.spool_id,
  })
}

/** Ends the open run by this server's own decision, with everything that was open in it. */
export async function closeOpenRun(
  deps: ExecutionDeps,
  live: Live,
  end: Parameters<typeof endRun>[0],
  expired: readonly string[] = [],
): Promise<void> {
  const close = async () => {
    const loaded = await loadSession(deps.db, live.owned.ref.id)
    if (loaded?.session.open_run_id !== end.run_id) return
    const items = await openItemsOf(deps, live.owned.ref.id, loaded.session.run_first_seq)
    const facts = toFacts(loaded)
    const live_tokens = facts.live_tokens.filter((token) => !expired.includes(token.id))
    await deps.journal.commit({
      session: live.owned.ref,
      guards: [stillOwned(live.owned)],
      rows: [taskAtRest(live.owned.ref.task_id, deps.clock.now().toISOString())],
      events: [
        ...expired.map((resume_token_id) => ({ kind: "token.expired", resume_token_id }) as const),
        ...endRun(end, { ...facts, live_tokens }, items),
      ],
    })
  }
  return live.reader ? live.reader.endRun(end.run_id, close) : close()
}
