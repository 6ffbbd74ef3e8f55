"use client"

import { formatSpan } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import { progressWords } from "@/lib/client/task-restore"
import type { Waking, WakingStep } from "@/lib/client/transcript-items"
import type { RestoreProgress } from "@/lib/contracts/restore"

const stepNames = (first: boolean): Record<WakingStep["name"], string> => ({
  executor: "starting executor",
  files: "restoring files",
  memory: first ? "starting agent" : "loading memory",
})

/** Every step is named from the start; the running one is marked and shows its time, and the last is the result. */
export function WakingSteps({ waking, done, progress = null }: { waking: Waking; done: boolean; progress?: RestoreProgress | null }) {
  const now = useNow(200)
  const names = stepNames(waking.first)
  const begun = waking.steps.length > 0
  const shown = waking.restores ? (["files", "memory"] as const) : (["executor", "memory"] as const)
  return (
    <>
      <b className="font-[560]">{waking.first ? "Starting" : "Waking"} this session: </b>
      {shown.map((name, at) => {
        const step = waking.steps.find((s) => s.name === name)
        // The executor was up already: nothing to wait for, and nothing to time.
        const there = name === "executor" && !step && begun
        const took = step && (step.doneAt ? Date.parse(step.doneAt) : now) - Date.parse(step.at)
        return (
          <span
            key={name}
            aria-current={step && !step.doneAt ? "step" : undefined}
            className={step && !step.doneAt ? "font-[530]" : step || there ? "text-text-2" : "text-text-3"}
          >
            {at > 0 && <span className="text-text-3"> → </span>}
            {there ? "executor ready" : name === "files" && progress && !step?.doneAt ? lowered(progressWords(progress)) : names[name]}
            {took !== undefined && now > 0 && <span className="text-text-3 tabular-nums"> {formatSpan(took)}</span>}
            {(step?.doneAt || there) && " ✓"}
          </span>
        )
      })}
      <span className={done ? "font-[560] text-alive" : "text-text-3"}>
        <span className="font-normal text-text-3"> → </span>ready{done && " ✓"}
      </span>
    </>
  )
}

const lowered = (words: string) => words.slice(0, 1).toLowerCase() + words.slice(1)
