import { ChevronLeft } from "lucide-react"
import Link from "next/link"

/** On a phone the list is a screen of its own; this leads back to it. */
export function BackToList() {
  return (
    <Link
      href="/tasks"
      aria-label="All tasks"
      className="-ml-3 hidden size-11 shrink-0 items-center justify-center text-text-2 phone:inline-flex"
    >
      <ChevronLeft className="size-5" />
    </Link>
  )
}

export function PhoneBar({ title }: { title?: string }) {
  return (
    <div className="hidden items-center border-line-soft border-b px-4 phone:flex">
      <BackToList />
      <span className="font-[600] text-l">{title}</span>
    </div>
  )
}
