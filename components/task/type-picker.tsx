import { cn } from "@/components/ui/cn"
import type { CreateTask } from "@/lib/contracts/task"

const types: readonly { id: CreateTask["type"]; label: string; hint: string }[] = [
  { id: "chat", label: "Chat", hint: "Works in an empty folder of its own" },
  { id: "code", label: "Code", hint: "Works on a branch of a repository" },
]

export function TypePicker({ type, onChoose }: { type: CreateTask["type"]; onChoose: (type: CreateTask["type"]) => void }) {
  return (
    <div role="radiogroup" aria-label="Kind of task" className="inline-flex gap-0.5 rounded-sm border border-line bg-bg p-0.5">
      {types.map(({ id, label, hint }) => (
        <label
          key={id}
          title={hint}
          className={cn(
            "flex items-center rounded-[4px] px-2 py-px has-focus-visible:outline-2 has-focus-visible:outline-alive touch:min-h-10 touch:px-3.5",
            type === id ? "bg-hover font-[530] text-text" : "text-text-3 hover:text-text",
          )}
        >
          <input type="radio" name="type" className="sr-only" checked={type === id} onChange={() => onChoose(id)} />
          {label}
        </label>
      ))}
    </div>
  )
}
