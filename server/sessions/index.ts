import type { OptionValues } from "../../lib/contracts/agent-setup"
import type { RestoreTask } from "../../lib/contracts/restore"
import type { CreateTask, SessionView, TaskView } from "../../lib/contracts/task"
import type { Outcome } from "../../lib/contracts/waits"
import type { Person } from "../auth"
import { requireSession, requireTask } from "../auth"
import type { Session } from "../platform/database"
import { createKeyedQueue } from "../platform/keyed-queue"
import { abandonExecutor, answerWait, cancelRun, type Resume, resumeSession, stopSession } from "./act"
import { type Append, appendMessage } from "./append-message"
import { createSession, createTask } from "./create-task"
import type { SessionDeps } from "./deps"
import { readEvents } from "./events"
import { changePrompt, listQueue, withdrawPrompt } from "./queue"
import { createRepositoryScan } from "./repository-scan"
import { previewRestore, restoreTask } from "./restore-task"
import { chooseOptions, readSetup } from "./setup"
import { stopWork } from "./stop-work"
import { deleteTask, type ListInput, listTasks, patchTask, purgeDeletedTasks, purgeTask } from "./tasks"
import { createViews } from "./views"
import { usableRepository } from "./workspaces"

export type { SessionDeps } from "./deps"
export { requireCursor } from "./events"
export { loadExpiry } from "./expiry"

/** Everything a signed-in person can ask for. Each checks ownership itself; transports only translate. */
export function createSessions(given: Omit<SessionDeps, "queueTurns">) {
  const deps: SessionDeps = { ...given, queueTurns: createKeyedQueue() }
  const views = createViews(deps)
  const findRepositories = createRepositoryScan(deps.config.workspace_roots)
  return {
    createTask: (person: Person, input: CreateTask) => createTask(deps, views, person, input),
    createSession: (
      person: Person,
      taskId: number,
      input: { agent?: TaskView["agent"] | undefined; runtime?: SessionView["runtime"] | undefined },
    ) => createSession(deps, views, person, taskId, input),
    append: (person: Person, taskId: number, input: Append) => appendMessage(deps, person, taskId, input),
    listTasks: (person: Person, input: ListInput) => listTasks(deps, views, person, input),
    getTask: async (person: Person, taskId: number) => views.task(await requireTask(deps.db, person, taskId)),
    patchTask: (person: Person, taskId: number, patch: Parameters<typeof patchTask>[4]) => patchTask(deps, views, person, taskId, patch),
    deleteTask: (person: Person, taskId: number) => deleteTask(deps, person, taskId),
    purgeTask: (taskId: number) => purgeTask(deps, taskId),
    purgeDeletedTasks: () => purgeDeletedTasks(deps),
    getSession: async (person: Person, sessionId: string) => views.session(await requireSession(deps.db, person, sessionId)),
    status: async (person: Person, sessionId: string) => views.status(await requireSession(deps.db, person, sessionId)),
    hasExpired: (session: Session) => views.hasExpired(session),
    /** For callers that have settled who may see it. */
    statusOf: (session: Session) => views.status(session),
    setup: (person: Person, sessionId: string) => readSetup(deps, person, sessionId),
    chooseOptions: (person: Person, sessionId: string, values: OptionValues) => chooseOptions(deps, person, sessionId, values),
    events: (person: Person, sessionId: string, page: Parameters<typeof readEvents>[3]) => readEvents(deps, person, sessionId, page),
    queue: (person: Person, sessionId: string) => listQueue(deps, person, sessionId),
    changePrompt: (person: Person, sessionId: string, promptId: string, change: Parameters<typeof changePrompt>[4]) =>
      changePrompt(deps, person, sessionId, promptId, change),
    withdrawPrompt: (person: Person, sessionId: string, promptId: string) => withdrawPrompt(deps, person, sessionId, promptId),
    answerWait: (person: Person, sessionId: string, tokenId: string, answer: { secret: string; outcome: Outcome }) =>
      answerWait(deps, person, sessionId, tokenId, answer),
    cancel: (person: Person, sessionId: string) => cancelRun(deps, person, sessionId),
    resume: (person: Person, sessionId: string, options: Resume) => resumeSession(deps, views, person, sessionId, options),
    restore: (person: Person, taskId: number, input: RestoreTask) => restoreTask(deps, person, taskId, input),
    previewRestore: (person: Person, taskId: number, sessionId: string | undefined) =>
      previewRestore(deps, views, person, taskId, sessionId),
    stop: (person: Person, sessionId: string) => stopSession(deps, person, sessionId),
    usableRepository: (repository: string) => usableRepository(repository, deps.config.workspace_roots),
    /** For a user who lost the right to run it; asked by the server itself. */
    stopWork: (sessionId: string) => stopWork(deps, sessionId),
    abandon: (person: Person, sessionId: string) => abandonExecutor(deps, person, sessionId),
    /** Only for those who may use them: the names alone tell what lies on this machine. */
    async workspaces(person: Person, query: string) {
      await deps.access.require(person, "standalone")
      return { roots: deps.config.workspace_roots, items: await findRepositories(query) }
    },
  }
}
export type Sessions = ReturnType<typeof createSessions>
