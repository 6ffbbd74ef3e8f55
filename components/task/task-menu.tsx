"use client"

import { Check, Download, Ellipsis, Eye, EyeOff, Pencil, RotateCcw, Trash2 } from "lucide-react"
import { useState } from "react"
import { IconButton } from "@/components/ui/button"
import { MenuContent, MenuItem, MenuRoot, MenuSeparator, MenuTrigger } from "@/components/ui/menu"
import { usePatchTask } from "@/lib/client/queries/tasks"
import { exportPath } from "@/lib/client/queries/transfer"
import { newestSession } from "@/lib/client/session-phase"
import type { TaskView } from "@/lib/contracts/task"
import { DeleteTaskDialog } from "./delete-task-dialog"
import { RenameTaskDialog } from "./rename-task-dialog"

/** Everything one can do to a task, wherever it is shown. */
export function TaskMenu({ task, sessionId }: { task: TaskView; sessionId?: string | undefined }) {
  const patch = usePatchTask(task.id)
  const [dialog, setDialog] = useState<"rename" | "delete" | null>(null)
  const ended = task.state === "COMPLETED" || task.state === "CANCELLED" || task.state === "FAILED"
  const close = () => setDialog(null)
  const exported = sessionId ?? newestSession(task)?.id
  return (
    <>
      <MenuRoot>
        <MenuTrigger asChild>
          <IconButton label={`Actions for ${task.title}`}>
            <Ellipsis className="size-4" />
          </IconButton>
        </MenuTrigger>
        <MenuContent align="end">
          <MenuItem onSelect={() => setDialog("rename")}>
            <Pencil /> Rename…
          </MenuItem>
          <MenuItem onSelect={() => patch.mutate({ state: ended ? "IN_PROGRESS" : "COMPLETED" })}>
            {ended ? <RotateCcw /> : <Check />} {ended ? "Reopen" : "Mark as completed"}
          </MenuItem>
          <MenuItem onSelect={() => patch.mutate({ hidden: task.hidden_at === null })}>
            {task.hidden_at === null ? <EyeOff /> : <Eye />} {task.hidden_at === null ? "Hide" : "Show again"}
          </MenuItem>
          {exported && (
            <MenuItem asChild>
              <a href={exportPath(exported)} download>
                <Download /> Export
              </a>
            </MenuItem>
          )}
          <MenuSeparator />
          <MenuItem danger onSelect={() => setDialog("delete")}>
            <Trash2 /> Delete…
          </MenuItem>
        </MenuContent>
      </MenuRoot>
      {dialog === "rename" && <RenameTaskDialog task={task} onClose={close} />}
      {dialog === "delete" && <DeleteTaskDialog task={task} onClose={close} />}
    </>
  )
}
