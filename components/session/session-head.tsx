import { BackToList } from "@/components/frame/phone-bar"
import { TaskMenu } from "@/components/task/task-menu"
import type { SessionView, TaskView } from "@/lib/contracts/task"
import { ExecutorState } from "./executor-state"
import { SurvivalLevel } from "./survival-level"
import { TaskTitle } from "./task-title"

type SessionHeadProps = { task: TaskView | undefined; session: SessionView | undefined; processesSince: string | null }

export function SessionHead({ task, session, processesSince }: SessionHeadProps) {
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
      {session && <ExecutorState status={session.executor_status} />}
      {session && <SurvivalLevel level={session.survival_level} processesSince={processesSince} />}
      {task && <TaskMenu task={task} />}
    </header>
  )
}
