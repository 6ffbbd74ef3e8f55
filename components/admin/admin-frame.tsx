"use client"

import Link from "next/link"
import { usePathname } from "next/navigation"
import type { ReactNode } from "react"
import { NotFound } from "@/components/frame/not-found"
import { BackToList } from "@/components/frame/phone-bar"
import { cn } from "@/components/ui/cn"
import { useMe } from "@/lib/client/queries/account"
import { AppError } from "@/lib/contracts/errors"

const pages = [
  { path: "/admin/sessions", name: "Sessions" },
  { path: "/admin/recoveries", name: "Recoveries" },
  { path: "/admin/archives", name: "Archives" },
  { path: "/admin/agents", name: "Agents" },
  { path: "/admin/users", name: "Users" },
  { path: "/admin/audit", name: "Security log" },
] as const

const nothingHere = new AppError("NOT_FOUND", "There is no such page.", { entity: "page" })

/** A narrow screen shows only some of the names. */
const bringIntoView = (link: HTMLElement | null) => link?.scrollIntoView({ block: "nearest", inline: "nearest" })

/** The status pages and the way between them; to everybody but admins they do not exist. */
export function AdminFrame({ children }: { children: ReactNode }) {
  const me = useMe()
  const path = usePathname()
  if (me.error && !me.data) return <NotFound error={me.error} retry={() => void me.refetch()} />
  if (!me.data) return null
  if (me.data.role !== "admin") return <NotFound error={nothingHere} retry={() => undefined} />
  return (
    <>
      <nav
        aria-label="Admin"
        className="flex h-[46px] shrink-0 items-stretch gap-0.5 overflow-x-auto border-line-soft border-b px-[15px] [scrollbar-width:none] phone:h-[52px] phone:px-4"
      >
        <span className="flex items-center phone:sticky phone:left-0 phone:z-10 phone:bg-bg">
          <BackToList />
        </span>
        {pages.map((page) => {
          const current = path.startsWith(page.path)
          return (
            <Link
              key={page.path}
              href={page.path}
              ref={current ? bringIntoView : null}
              aria-current={current ? "page" : undefined}
              className={cn(
                "flex shrink-0 items-center border-b-2 px-[9px]",
                current ? "border-alive font-[530] text-text" : "border-transparent text-text-3 hover:text-text",
              )}
            >
              {page.name}
            </Link>
          )
        })}
      </nav>
      {children}
    </>
  )
}
