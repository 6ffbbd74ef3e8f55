import type { PtyState } from "../../lib/contracts/agentctl/ptys"
import type { EventOf, NewEvent } from "../../lib/contracts/events"
import { quoted } from "../../lib/host/shell"
import { type AgentctlClient, DaemonRefused } from "../executors"
import { parseRow, updateAny } from "../journal"
import type { Worker } from "../platform/database"
import type { ExecutionDeps, Live } from "./context"
import { stillOwned } from "./ownership"
import { refusalIsFinal } from "./tend-run"

export type ReceiptProcess = EventOf<"recovery.receipt">["processes"][number]
type Named = Pick<Worker, "id" | "name">

/** Receipts are looked at this far back for what they told already; a loss is told in the first that follows it. */
const RECENT_RECEIPTS = 20

/**
 * What the daemon's terminals came to, and what of it no receipt has told yet. Tabs that were closed while their daemon was away
 * are ended here.
 */
export async function settleTerminals(
  deps: ExecutionDeps,
  live: Live,
  client: AgentctlClient,
  workspace: string,
): Promise<{ kept: ReceiptProcess[]; ended: ReceiptProcess[] }> {
  const { id } = live.owned.ref
  const workers = await deps.db.worker.findMany({ where: { session_id: id } })
  if (workers.length === 0) return { kept: [], ended: [] }
  const ptys = await ptysOf(client, id)
  const open = workers.filter((worker) => worker.closed_at === null)
  for (const { worker_id } of ptys) {
    if (!open.some((worker) => worker.id === worker_id)) await refusalIsFinal(client.removePty(id, live.owned.epoch, worker_id))
  }
  const found = ptys.filter((pty) => open.some((worker) => worker.id === pty.worker_id))
  await takeDown(deps, live, open, found)
  const ended = found.flatMap((pty) => whatEnded(pty, nameOf(open, pty), workspace))
  const told = ended.length > 0 ? await alreadyTold(deps, id) : new Set<string>()
  return {
    kept: found.flatMap((pty) => whatRuns(pty, nameOf(open, pty))),
    ended: ended.filter((process) => !told.has(tellingOf(process))),
  }
}

/** What a terminal agent's process shows of its conversation, where the row does not say so yet. Pure. */
export function conversationEvents(worker: Pick<Worker, "id" | "conversation_id" | "forked_from">, pty: PtyState): NewEvent[] {
  if (!pty.conversation) return []
  const { id, forked_from } = pty.conversation
  if (id === worker.conversation_id && forked_from === worker.forked_from) return []
  return [{ kind: "worker.conversation", worker_id: worker.id, conversation_id: id, forked_from }]
}

async function takeDown(deps: ExecutionDeps, live: Live, workers: readonly Worker[], ptys: readonly PtyState[]): Promise<void> {
  const events = workers.flatMap((worker) =>
    ptys.filter((pty) => pty.worker_id === worker.id).flatMap((pty) => conversationEvents(worker, pty)),
  )
  if (events.length > 0) await deps.journal.commit({ session: live.owned.ref, guards: [stillOwned(live.owned)], events })
}

/** Before a place is put away: the daemon forgets its terminals with it, and what they were in goes into the archive by name. */
export async function noteConversations(deps: ExecutionDeps, live: Live, client: AgentctlClient): Promise<void> {
  const { id } = live.owned.ref
  const workers = await deps.db.worker.findMany({ where: { session_id: id, closed_at: null, type: "agent" } })
  if (workers.length > 0) await takeDown(deps, live, workers, await ptysOf(client, id))
}

const nameOf = (workers: readonly Named[], { worker_id }: PtyState) => workers.find((worker) => worker.id === worker_id)?.name ?? worker_id

/** A terminal whose daemon died: its shell, and by name what ran in it, with the line that would run it again. Pure. */
export function whatEnded(pty: PtyState, name: string, workspace: string): ReceiptProcess[] {
  if (pty.state !== "gone") return []
  const { worker_id, epoch } = pty
  const shell: ReceiptProcess = { what: name, outcome: "ended", worker_id, epoch }
  return [
    shell,
    ...pty.lost.map(
      ({ command, cwd, alive }): ReceiptProcess => ({
        what: command,
        outcome: alive ? "kept" : "ended",
        worker_id,
        epoch,
        ...(alive ? {} : { command: cwd === null || cwd === workspace ? command : `cd ${quoted(cwd)} && ${command}` }),
      }),
    ),
  ]
}

const whatRuns = (pty: PtyState, name: string): ReceiptProcess[] =>
  pty.state === "running"
    ? [{ what: [name, ...pty.processes.map(({ command }) => command)].join(": "), outcome: "kept", worker_id: pty.worker_id }]
    : []

const tellingOf = ({ worker_id, epoch }: ReceiptProcess) => `${worker_id} ${epoch}`
async function alreadyTold(deps: ExecutionDeps, sessionId: string): Promise<Set<string>> {
  const rows = await deps.db.sessionEvent.findMany({
    where: { session_id: sessionId, kind: "recovery.receipt" },
    orderBy: { seq: "desc" },
    take: RECENT_RECEIPTS,
  })
  const processes = rows.map(parseRow).flatMap((event) => (event.kind === "recovery.receipt" ? event.processes : []))
  return new Set(processes.filter((process) => process.epoch !== undefined).map(tellingOf))
}

/** The shells of a place that was put away: they are new when somebody looks at them. */
export async function shellsOf(deps: ExecutionDeps, sessionId: string): Promise<ReceiptProcess[]> {
  const workers = await deps.db.worker.findMany({ where: { session_id: sessionId, closed_at: null, type: { not: "git-diff" } } })
  return workers.map(({ id, name }) => ({ what: name, outcome: "ended", worker_id: id }))
}

/** A program in front in a terminal keeps its task: whoever waits for it has not left. Says so where expiry is judged. */
export async function keptByTerminal(deps: ExecutionDeps, live: Live, client: AgentctlClient): Promise<boolean> {
  const { id, task_id } = live.owned.ref
  const ptys = await ptysOf(client, id)
  if (!ptys.some((pty) => pty.state === "running" && pty.processes.some(({ foreground }) => foreground))) return false
  await deps.journal.write([updateAny("tasks", { id: task_id }, { last_activity_at: deps.clock.now().toISOString() })])
  return true
}

/** A daemon older than terminals knows none. */
const ptysOf = (client: AgentctlClient, sessionId: string): Promise<PtyState[]> =>
  client.ptys(sessionId).then(
    ({ ptys }) => ptys,
    (error) => {
      if (error instanceof DaemonRefused) return []
      throw error
    },
  )
