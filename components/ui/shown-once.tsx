import type { ReactNode } from "react"
import { CopyButton } from "./copy-button"

/** A link or token that cannot be asked for again; the children say so. */
export function ShownOnce({ text, children }: { text: string; children: ReactNode }) {
  return (
    <div role="status" className="mt-3 rounded-md border border-line bg-alive-soft p-3">
      <p className="mb-1.5">{children}</p>
      <div className="flex items-center gap-2 rounded-sm border border-line-soft bg-bg px-2.5 py-1.5">
        <code className="min-w-0 flex-1 break-all font-mono text-s">{text}</code>
        <CopyButton text={text} />
      </div>
    </div>
  )
}
