import Link from "next/link"
import type { ReactNode } from "react"
import { buttonClass } from "@/components/ui/button"
import { Logo } from "@/components/ui/logo"

/** In the place of a page that cannot be shown: what happened, and the way back. */
export function Stray({ title, lead, children }: { title: string; lead: string; children?: ReactNode }) {
  return (
    <div className="grid flex-1 place-items-center px-6">
      <div role="alert" className="max-w-[380px] text-center">
        <Logo className="mx-auto mb-4 size-7 text-alive" />
        <h1 className="font-[630] text-xl">{title}</h1>
        <p className="mt-1 mb-4 text-text-2">{lead}</p>
        <div className="flex justify-center gap-2">
          {children}
          <Link href="/tasks" className={buttonClass("plain")}>
            Back to tasks
          </Link>
        </div>
      </div>
    </div>
  )
}
