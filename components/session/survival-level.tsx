import { cn } from "@/components/ui/cn"
import { Tooltip } from "@/components/ui/tooltip"
import { formatMoment } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import type { SurvivalLevel as Level } from "@/lib/contracts/status"

const promises: readonly { level: Level; words: string }[] = [
  { level: "L1", words: "what you send is never lost and never delivered twice" },
  { level: "L2", words: "the files are back" },
  { level: "L3", words: "the agent remembers" },
  { level: "L4", words: "the same processes never stopped" },
]

const reasons: Record<Level, string> = {
  L0: "transcript readable",
  L1: "input is safe",
  L2: "files are kept",
  L3: "the agent remembers",
  L4: "same processes",
}

/** Which promise this session holds now, and why. */
export function SurvivalLevel({ level, processesSince }: { level: Level; processesSince: string | null }) {
  const now = useNow(60_000)
  const held = Number(level.slice(1))
  const reason = level === "L4" && processesSince && now > 0 ? `same processes since ${formatMoment(processesSince, now)}` : reasons[level]
  return (
    <Tooltip
      label={`Survival level ${level}: ${reason}`}
      className="shrink-0 text-s text-text-2"
      content={
        <span className="flex flex-col gap-0.5">
          <span className="font-[560] text-text">{reason}</span>
          {promises.map((promise, at) => (
            <span key={promise.level} className={cn(at >= held && "text-text-3")}>
              {at < held ? "✓" : "–"} {promise.level} {promise.words}
            </span>
          ))}
        </span>
      }
    >
      <span className="phone:hidden">{reason}</span>
      <span aria-hidden="true" className="flex gap-[2px]">
        {promises.map((promise, at) => (
          <i key={promise.level} className={cn("h-3 w-1 rounded-[2px]", at < held ? "bg-alive" : "bg-line")} />
        ))}
      </span>
      <b className="font-[600]">{level}</b>
    </Tooltip>
  )
}
