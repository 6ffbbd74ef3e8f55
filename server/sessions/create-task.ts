import type { Attachment } from "../../lib/contracts/attachments"
import { AppError } from "../../lib/contracts/errors"
import type { NewEvent } from "../../lib/contracts/events"
import type { CreateTask, SessionView, TaskView } from "../../lib/contracts/task"
import { findWanted, requireFree, taken } from "../attachments"
import type { Person } from "../auth"
import { requireTask } from "../auth"
import { type Change, type Commit, insert, isConflict } from "../journal"
import { ids } from "../platform/ids"
import type { SessionDeps } from "./deps"
import { requireMessageSize, toTitle } from "./limits"
import type { Views } from "./views"
import { requireRepository } from "./workspaces"

/** A task with its first session and first message, in one commit: there is never a task without them. */
export async function createTask(
  deps: SessionDeps,
  views: Views,
  person: Person,
  input: CreateTask,
): Promise<{ task: TaskView; session: SessionView }> {
  requireMessageSize(input.message, deps.config.max_message_bytes)
  await requireAgent(deps, input.agent)
  await deps.access.require(person, input.runtime)
  if (input.type === "code" && !input.repository) {
    throw new AppError("INVALID_INPUT", "A code task needs a repository.", { issues: ["repository: required for code tasks"] })
  }
  const repository = input.type === "code" && input.repository ? requireRepository(input.repository, deps.config.workspace_roots) : null

  const now = deps.clock.now().toISOString()
  const session_id = ids.session()
  const free = async () => requireFree(await findWanted(deps.db, person.id, input.attachments))
  const attachments = await free()
  const commit: Commit = {
    session: { id: session_id, task_id: 0, user_id: person.id },
    rows: [
      ...taken(attachments, session_id),
      insert(
        "tasks",
        {
          owner_id: person.id,
          type: input.type,
          title: toTitle(input.title ?? (input.message.trim() || (attachments[0]?.name ?? ""))),
          state: "IN_PROGRESS",
          agent: input.agent,
          repository,
          created_at: now,
          updated_at: now,
          last_activity_at: now,
        },
        "task_id",
      ),
      ...sessionRows(deps, {
        session_id,
        task_id: { ref: "task_id" },
        user_id: person.id,
        agent: input.agent,
        runtime: input.runtime,
        now,
        branch: null,
      }),
    ],
    events: [created(), ...queued(input.message, attachments, 0, null).events],
  }
  const { refs } = await deps.journal.commit(commit).catch(async (error) => {
    // Another message took one of them in this very moment: the second look names it.
    if (isConflict(error)) await free()
    throw error
  })
  const taskId = refs.task_id as number
  deps.coordinator.poke(session_id, { wake: true })
  const task = await views.task(await requireTask(deps.db, person, taskId))
  return { task, session: task.sessions[0] as SessionView }
}

/** A further session of the task, in a workspace of its own. It starts with its first message. */
export async function createSession(
  deps: SessionDeps,
  views: Views,
  person: Person,
  taskId: number,
  input: {
    agent?: TaskView["agent"] | undefined
    runtime?: SessionView["runtime"] | undefined
    /** Of the same task: its conversation goes along, if the agent can be given one. */
    from_session_id?: string | undefined
  },
): Promise<SessionView> {
  const task = await requireTask(deps.db, person, taskId)
  const agent = input.agent ?? (task.agent as TaskView["agent"])
  const runtime = input.runtime ?? "standalone"
  await requireAgent(deps, agent)
  await deps.access.require(person, runtime)
  const from = input.from_session_id === undefined ? null : await requireSibling(deps, task.id, input.from_session_id)
  const earlier = await deps.db.session.count({ where: { task_id: task.id } })
  const session_id = ids.session()
  const now = deps.clock.now().toISOString()
  // Git allows a branch in one worktree only, so that each further session needs its own.
  const branch = task.type === "code" ? `rewake/task-${task.id}-${earlier + 1}-${session_id.slice(-6)}` : null
  await deps.journal.commit({
    session: { id: session_id, task_id: task.id, user_id: person.id },
    rows: sessionRows(deps, { session_id, task_id: task.id, user_id: person.id, agent, runtime, now, branch }),
    events: [created(), ...(from && deps.agents.get(agent).history_context_injection ? [from] : [])],
  })
  return views.session(await deps.db.session.findUniqueOrThrow({ where: { id: session_id } }))
}

/** A name that means nothing is a mistake in the request; an agent that is only not here may be installed. */
async function requireAgent({ agents }: SessionDeps, id: string): Promise<void> {
  if (!(await agents.isKnown(id)))
    throw new AppError("INVALID_INPUT", `There is no agent called ${id}.`, { issues: [`agent: there is no agent called ${id}`] })
  await agents.require(id)
}

async function requireSibling(deps: SessionDeps, taskId: number, sessionId: string): Promise<NewEvent> {
  const session = await deps.db.session.findUnique({ where: { id: sessionId } })
  if (session?.task_id !== taskId) throw new AppError("NOT_FOUND", "There is no such session in this task.", { entity: "session" })
  const executor = await deps.db.executorRunning.findUnique({ where: { session_id: sessionId } })
  return {
    kind: "session.continued",
    from_session_id: sessionId,
    from_agent: session.agent,
    from_seq: session.last_seq,
    from_workspace: executor?.executor_deleted_at ? null : (executor?.workspace_path ?? null),
  }
}

const created = (): NewEvent => ({ kind: "session.state_changed", from: null, to: "CREATED", cause: "created" })

export function queued(content: string, attachments: readonly Attachment[], rank: number, client_message_id: string | null) {
  const message_id = ids.message()
  const prompt_id = ids.prompt()
  const attached = attachments.length > 0 ? { attachments: [...attachments] } : {}
  const events: NewEvent[] = [
    { kind: "message.user", message_id, content, ...attached, prompt_id },
    { kind: "prompt.queued", prompt_id, message_id, content, ...attached, rank, client_message_id },
  ]
  return { message_id, prompt_id, events }
}

function sessionRows(
  deps: SessionDeps,
  s: {
    session_id: string
    task_id: number | { ref: string }
    user_id: string
    agent: string
    runtime: string
    now: string
    branch: string | null
  },
): Change[] {
  return [
    insert("sessions", {
      id: s.session_id,
      task_id: s.task_id,
      user_id: s.user_id,
      agent: s.agent,
      runtime: s.runtime,
      created_at: s.now,
      updated_at: s.now,
      state: "CREATED",
      owner_boot_id: deps.boot_id,
      owner_epoch: 1,
    }),
    insert("executors_running", {
      id: ids.executor(),
      session_id: s.session_id,
      task_id: s.task_id,
      runtime: s.runtime,
      status: "none",
      worktree_branch: s.branch,
      created_at: s.now,
      updated_at: s.now,
    }),
  ]
}
