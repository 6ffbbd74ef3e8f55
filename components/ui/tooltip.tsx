import type { ReactNode } from "react"
import { useId } from "react"
import { cn } from "./cn"

/** Shown on hover and on keyboard focus alike; Escape is not needed as it never covers what it explains. */
export function Tooltip({
  label,
  content,
  children,
  className,
}: {
  label: string
  content: ReactNode
  children: ReactNode
  className?: string
}) {
  const id = useId()
  return (
    <span className={cn("group/tip relative inline-flex", className)}>
      <button
        type="button"
        aria-label={label}
        aria-describedby={id}
        className="inline-flex items-center gap-[7px] rounded-sm px-1 touch:min-h-11"
      >
        {children}
      </button>
      <span
        id={id}
        role="tooltip"
        className="invisible absolute top-full right-0 z-30 mt-1.5 w-max max-w-[min(320px,80vw)] rounded-md border border-line bg-raised px-3 py-2 text-left text-s text-text-2 opacity-0 shadow-pop transition-opacity delay-100 group-focus-within/tip:visible group-focus-within/tip:opacity-100 group-hover/tip:visible group-hover/tip:opacity-100"
      >
        {content}
      </span>
    </span>
  )
}
