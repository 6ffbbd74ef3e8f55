"use client"

import { useParams } from "next/navigation"
import { Button } from "@/components/ui/button"
import { errorSentence } from "@/lib/client/error-sentence"
import { useNow } from "@/lib/client/hooks"
import { useAgentName } from "@/lib/client/queries/agents"
import { type TaskFilter, useTasks } from "@/lib/client/queries/tasks"
import { groupTasks } from "@/lib/client/session-phase"
import type { TaskView } from "@/lib/contracts/task"
import { TaskRow } from "./task-row"

export function TaskList({ filter }: { filter: TaskFilter }) {
  const tasks = useTasks(filter)
  if (tasks.isPending) return <ListSkeleton />
  if (!tasks.data) {
    return (
      <div className="px-3.5 py-3 text-text-2">
        <p className="mb-2">{errorSentence(tasks.error)}</p>
        <Button onClick={() => void tasks.refetch()}>Try again</Button>
      </div>
    )
  }
  if (tasks.data.length === 0) return <EmptyList filter={filter} />
  return (
    <>
      <GroupedRows tasks={tasks.data} lastTitle={filter.hidden ? "Hidden" : "Recent"} />
      {tasks.hasNextPage && (
        <div className="px-3.5 py-2">
          <Button look="quiet" className="w-full" disabled={tasks.isFetchingNextPage} onClick={() => void tasks.fetchNextPage()}>
            {tasks.isFetchingNextPage ? "Loading…" : "Show older"}
          </Button>
        </div>
      )}
    </>
  )
}

/** All rows are children of one list: in a list per group, a row that changes its group would lose its open menu or dialog. */
function GroupedRows({ tasks, lastTitle }: { tasks: readonly TaskView[]; lastTitle: string }) {
  const now = useNow(30_000)
  const agentName = useAgentName()
  const current = useParams().taskId
  const { needsYou, working, recent } = groupTasks(tasks)
  const heading = (title: string, count: number) => (
    <li key={title}>
      <h2 className="flex px-3.5 pt-2.5 pb-1 font-[550] text-text-3 text-xs">
        {title}
        <span className="ml-auto font-medium tabular-nums">{count}</span>
      </h2>
    </li>
  )
  const group = (title: string, tasks: readonly TaskView[]) =>
    tasks.length === 0
      ? []
      : [
          heading(title, tasks.length),
          ...tasks.map((task) => (
            <TaskRow key={task.id} task={task} current={current === String(task.id)} agentName={agentName(task.agent)} now={now} />
          )),
        ]
  return <ul>{[...group("Needs you", needsYou), ...group("Working", working), ...group(lastTitle, recent)]}</ul>
}

function EmptyList({ filter }: { filter: TaskFilter }) {
  const words = filter.q
    ? `No task matches “${filter.q}”.`
    : filter.hidden
      ? "Nothing is hidden."
      : "No tasks yet. Say what you want done, and an agent starts on it."
  return <p className="px-3.5 py-3 text-text-3">{words}</p>
}

function ListSkeleton() {
  return (
    <div aria-hidden="true" className="animate-breathe px-3.5 pt-3">
      {[70, 52, 84, 60, 76].map((width) => (
        <div key={width} className="flex flex-col gap-1.5 py-2">
          <div className="h-3 rounded-sm bg-hover" style={{ width: `${width}%` }} />
          <div className="h-2.5 w-2/5 rounded-sm bg-line-soft" />
        </div>
      ))}
    </div>
  )
}
