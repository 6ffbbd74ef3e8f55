import type { ReactNode } from "react"
import { cn } from "./cn"

export function Kbd({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <kbd
      className={cn(
        "rounded-[4px] border border-b-2 border-[color-mix(in_oklab,currentColor_28%,transparent)] px-1 py-px font-medium font-sans text-[10px] leading-[13px] touch:hidden",
        className,
      )}
    >
      {children}
    </kbd>
  )
}
