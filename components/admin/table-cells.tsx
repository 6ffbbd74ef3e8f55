import type { ReactNode } from "react"
import { cn } from "@/components/ui/cn"

/** The parts that the status pages' tables, and their cards on a phone, have in common. */

export const Head = ({ children, className }: { children: ReactNode; className?: string }) => (
  <th scope="col" className={cn("whitespace-nowrap border-line border-b px-2 py-1.5 text-left font-medium text-s text-text-3", className)}>
    {children}
  </th>
)

export const Cell = ({ children, className, title }: { children: ReactNode; className?: string; title?: string | undefined }) => (
  <td title={title} className={cn("h-[37px] whitespace-nowrap border-line-soft border-b px-2", className)}>
    {children}
  </td>
)

export function CardLine({ term, className, children }: { term: string; className?: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-text-3">{term}</dt>
      <dd className={cn("min-w-0 truncate text-text-2", className)}>{children}</dd>
    </>
  )
}
