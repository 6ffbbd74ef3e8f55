"use client"

import { Dialog } from "@/components/ui/dialog"
import { Kbd } from "@/components/ui/kbd"

const keys: readonly (readonly [string, string])[] = [
  ["Ctrl K  ⌘K", "Go to a task or action"],
  ["J  K", "Next, previous task"],
  ["J  K", "In the changes: next, previous file"],
  ["Enter", "Open the task; send the message"],
  ["Shift Enter", "New line"],
  ["N", "New task"],
  ["/", "Search tasks"],
  ["C", "Write a message"],
  ["1 – 9", "Answer what the agent asks"],
  ["Alt 1 – 9", "The same, while writing"],
  ["Esc", "Interrupt the agent"],
  ["?", "These keys"],
]

export function KeysDialog({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keys">
      <dl className="mt-3 grid grid-cols-[auto_1fr] items-center gap-x-5 gap-y-2">
        {keys.map(([key, what]) => (
          <div key={what} className="contents">
            <dt className="flex gap-1">
              {key.split("  ").map((part) => (
                <Kbd key={part} className="px-1.5 text-text-2 text-xs">
                  {part}
                </Kbd>
              ))}
            </dt>
            <dd className="text-text-2">{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
