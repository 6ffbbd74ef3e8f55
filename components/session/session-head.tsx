import { BackToList } from "@/components/frame/phone-bar"
import { TaskMenu } from "@/components/task/task-menu"
import type { SessionStatusReport } from "@/lib/contracts/status"
import type { SessionView, TaskView } from "@/lib/contracts/task"
import { ExecutorState } from "./executor-state"
import { SurvivalLevel } from "./survival-level"
import { TaskTitle } from "./task-title"

type SessionHeadProps = {
  task: TaskView | undefined
  session: SessionView | undefined
  processesSince: string | null
  /** As last asked; it also knows whether the workspace is there. */
  report?: SessionStatusReport | undefined
}

export function SessionHead({ task, session, processesSince, report }: SessionHeadProps) {
  return (
    <header className="flex h-[46px] shrink-0 items-center gap-2.5 pr-3 pl-[18px] phone:h-[52px] phone:pl-4">
      <BackToList />
      {task && <TaskTitle task={task} />}
      {task && (
        <span className="min-w-0 shrink-[9] truncate font-mono text-s text-text-3 phone:hidden">
          #{task.id}
          {session?.worktree_branch && ` · ${session.worktree_branch}`}
        </span>
      )}
      <span className="ml-auto" />
      {session && <ExecutorState status={report?.executor_status === "unknown" ? "unknown" : session.executor_status} />}
      {session && (
        <SurvivalLevel
          level={report?.resume_reason === "workspace_missing" ? report.survival_level : session.survival_level}
          processesSince={processesSince}
        />
      )}
      {task && <TaskMenu task={task} sessionId={session?.id} />}
    </header>
  )
}
