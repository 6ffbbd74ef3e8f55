import type { FormEventHandler, ReactNode } from "react"
import { Logo } from "@/components/ui/logo"

type AuthShellProps = { title: string; lead?: ReactNode; onSubmit: FormEventHandler<HTMLFormElement>; children: ReactNode }

/** `method="post"`: should the script fail to load, no password ends up in an address. */
export function AuthShell({ title, lead, onSubmit, children }: AuthShellProps) {
  return (
    <main className="grid min-h-dvh place-items-center px-4 py-10">
      <div className="w-full max-w-[340px]">
        <div className="mb-7 flex items-center gap-2 font-[620] text-l">
          <Logo className="size-5 text-alive" />
          Rewake
        </div>
        <h1 className="font-[630] text-2xl tracking-[-0.02em]">{title}</h1>
        {lead && <p className="mt-1 text-text-2">{lead}</p>}
        <form method="post" onSubmit={onSubmit} className="mt-6 flex flex-col gap-3.5">
          {children}
        </form>
      </div>
    </main>
  )
}
