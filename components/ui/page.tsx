import type { ReactNode } from "react"
import { cn } from "./cn"

/** A page of forms or tables; `top` is what leads back from it on a phone. */
type PageProps = { title: string; lead?: ReactNode; top?: ReactNode; wide?: boolean; children: ReactNode }

export function Page({ title, lead, top, wide = false, children }: PageProps) {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      {top}
      <div className={cn("@container mx-auto px-6 py-6 phone:px-4 phone:py-4", wide ? "max-w-[1480px]" : "max-w-[860px]")}>
        <h1 className="font-[630] text-xl tracking-[-0.01em]">{title}</h1>
        {lead && <div className="mt-0.5 text-text-3">{lead}</div>}
        <div className="mt-5 flex flex-col gap-6">{children}</div>
      </div>
    </div>
  )
}

export function Section({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  return (
    <section className="rounded-md border border-line-soft bg-panel">
      <header className="border-line-soft border-b px-4 py-3">
        <h2 className="font-[600] text-l">{title}</h2>
        {lead && <p className="text-text-3">{lead}</p>}
      </header>
      <div className="p-4">{children}</div>
    </section>
  )
}
