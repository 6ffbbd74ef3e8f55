import type { PtyState, PutPtyAnswer, StartPty } from "../../lib/contracts/agentctl/ptys"
import { AppError } from "../../lib/contracts/errors"
import { killPoint } from "../../lib/host/kill-point"
import { conversationEvents, type Place } from "../execution"
import type { Worker } from "../platform/database"
import { learnConversation, makeConversation } from "./ask-agent"
import { conversationOf, newConversation, planStart, type TabConversation } from "./conversation"
import { refOf, type WorkerDeps } from "./deps"

type Size = { cols: number; rows: number }
type Start = Pick<StartPty, "type" | "command" | "label" | "rather" | "conversation" | "traces">
/** What a terminal is before anybody has said how large theirs is. */
const DEFAULT_SIZE: Size = { cols: 80, rows: 24 }
const SHELL: Start = { type: "terminal", command: null, label: "new shell" }

/** What the daemon has of this worker; null when nothing was ever started in it. */
export const ptyOf = async ({ client, session }: Place, workerId: string): Promise<PtyState | null> =>
  (await client.ptys(session.id)).ptys.find((pty) => pty.worker_id === workerId) ?? null

/**
 * Sees to it that a worker has a process: the one that lives, else a new one in its place. However many ask at once, the daemon
 * starts one and tells one of them that it did; that one writes it down.
 */
export async function raiseProcess(
  deps: WorkerDeps,
  place: Place,
  worker: Worker,
  options: { size?: Size | undefined; restart?: { continue: boolean } },
): Promise<PutPtyAnswer> {
  const { client, session } = place
  const before = await place.call(() => ptyOf(place, worker.id))
  const start = worker.type === "agent" ? await startOfAgent(deps, place, worker, before, options.restart?.continue ?? true) : SHELL
  const size = options.size ?? (before ? { cols: before.cols, rows: before.rows } : DEFAULT_SIZE)
  const restart = options.restart !== undefined
  const pty = await place.call((epoch) => client.putPty(session.id, epoch, worker.id, { ...start, ...size, restart }))
  killPoint("worker.raised")
  await endIfClosed(deps, place, worker)
  const lost = (before?.lost ?? []).filter((process) => !process.alive).map((process) => process.command)
  const events = [
    ...conversationEvents(worker, pty),
    ...(pty.restored ? [{ kind: "worker.restored" as const, worker_id: worker.id, epoch: pty.epoch, lost }] : []),
  ]
  if (events.length > 0) await deps.journal.commit({ session: refOf(session), events })
  return pty
}

/** Closed while its process was being started: whoever closed it found none to end. */
async function endIfClosed(deps: WorkerDeps, { client, session, call }: Place, worker: Worker): Promise<void> {
  const row = await deps.db.worker.findUnique({ where: { id: worker.id }, select: { closed_at: true } })
  if (row?.closed_at === null) return
  await call((epoch) => client.removePty(session.id, epoch, worker.id))
  throw new AppError("NOT_FOUND", "There is no such terminal.", { entity: "worker" })
}

async function startOfAgent(deps: WorkerDeps, place: Place, worker: Worker, before: PtyState | null, goOn: boolean): Promise<Start> {
  const { executor } = place
  const agent = worker.agent ?? ""
  const terminal = await deps.agents.requireTerminal(agent)
  const { program, command } = terminal
  let tab: TabConversation = { ...newConversation(program, null), ran: false, unclear: false }
  // One that lives is left alone, whatever it would be started with.
  if (goOn)
    tab =
      before?.state === "running"
        ? conversationOf(worker, before, terminal)
        : await learnConversation(deps, place, terminal, worker, before)
  if (tab.id === null && !tab.ran && tab.forked_from === null) {
    const id = await makeConversation(deps, place, terminal)
    tab = { ...tab, ...(id === null ? newConversation(program, null) : { id, made: true }) }
  }
  const { id, forked_from } = tab
  const filesOf = (conversationId: string) => deps.agents.sessionFiles(agent, conversationId, executor.workspace_path)
  const { args, label, rather } = planStart(program, tab, filesOf)
  return {
    type: "agent",
    command: command(args),
    label,
    rather: rather.map(({ args, ...way }) => ({ ...way, command: command(args) })),
    conversation: { id, forked_from },
    traces: deps.agents.traces(agent, executor.workspace_path),
  }
}
