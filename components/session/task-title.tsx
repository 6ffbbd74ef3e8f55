"use client"

import { useState } from "react"
import { takeFocus } from "@/lib/client/hooks"
import { usePatchTask } from "@/lib/client/queries/tasks"
import type { TaskView } from "@/lib/contracts/task"

/** The title, edited in its place: Enter keeps the new one, Escape the old. */
export function TaskTitle({ task }: { task: TaskView }) {
  const [draft, setDraft] = useState<string | null>(null)
  const patch = usePatchTask(task.id)
  const shown = patch.isPending && patch.variables?.title ? patch.variables.title : task.title
  const save = () => {
    const title = draft?.trim()
    setDraft(null)
    if (title && title !== task.title) patch.mutate({ title })
  }
  if (draft === null) {
    return (
      <h1 className="-mx-1.5 min-w-0 font-[620] text-l">
        <button
          type="button"
          title="Rename"
          onClick={() => setDraft(shown)}
          className="block max-w-full truncate rounded-sm px-1.5 text-left hover:bg-hover touch:min-h-11"
        >
          {shown}
        </button>
      </h1>
    )
  }
  return (
    <input
      aria-label="Title"
      value={draft}
      maxLength={200}
      ref={takeFocus}
      onFocus={(event) => event.currentTarget.select()}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === "Enter") save()
        if (event.key !== "Escape") return
        event.stopPropagation()
        setDraft(null)
      }}
      className="-mx-1.5 -my-px min-w-0 max-w-[460px] flex-1 rounded-sm border border-line bg-bg px-1.5 font-[620] text-l outline-none focus-visible:border-alive touch:min-h-11"
    />
  )
}
