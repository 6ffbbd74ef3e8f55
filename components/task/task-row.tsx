"use client"

import Link from "next/link"
import { memo } from "react"
import { cn } from "@/components/ui/cn"
import { formatAgo, formatFull } from "@/lib/client/format"
import { taskPath, taskPhase, taskSubline } from "@/lib/client/session-phase"
import type { TaskView } from "@/lib/contracts/task"
import { PhaseGlyph } from "./phase-glyph"
import { TaskMenu } from "./task-menu"

type TaskRowProps = { task: TaskView; current: boolean; agentName: string; now: number }

export const TaskRow = memo(function TaskRow({ task, current, agentName, now }: TaskRowProps) {
  return (
    <li className="group/row relative mx-1.5">
      <Link
        href={taskPath(task)}
        data-task-row={task.id}
        aria-current={current ? "page" : undefined}
        className={cn(
          "grid grid-cols-[16px_1fr_auto] items-baseline gap-x-2 rounded-sm px-2 py-1.5 outline-none focus-visible:outline-2 focus-visible:outline-alive touch:py-2",
          current ? "bg-hover" : "hover:bg-[color-mix(in_oklab,var(--hover)_55%,transparent)]",
        )}
      >
        <span className="flex self-center">
          <PhaseGlyph phase={taskPhase(task, now)} />
        </span>
        <span className="truncate font-[480]">{task.title}</span>
        <time
          dateTime={task.last_activity_at}
          title={formatFull(task.last_activity_at)}
          className="text-text-3 text-xs group-focus-within/row:opacity-0 group-hover/row:opacity-0 group-has-data-[state=open]/row:opacity-0 touch:mr-8 touch:opacity-100!"
        >
          {now > 0 && formatAgo(task.last_activity_at, now)}
        </time>
        <span className="col-start-2 col-end-4 truncate text-s text-text-3">{taskSubline(task, agentName, now)}</span>
      </Link>
      <div className="absolute top-1 right-1 opacity-0 focus-within:opacity-100 group-focus-within/row:opacity-100 group-hover/row:opacity-100 has-data-[state=open]:opacity-100 touch:opacity-100">
        <TaskMenu task={task} />
      </div>
    </li>
  )
})
