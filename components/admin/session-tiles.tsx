"use client"

import Link from "next/link"
import type { ReactNode } from "react"
import { cn } from "@/components/ui/cn"
import { formatMs } from "@/lib/client/admin-words"
import { useExecutors, useRecoveries } from "@/lib/client/queries/admin"
import type { AdminFilter, AdminSessions } from "@/lib/contracts/admin"

type SessionTilesProps = { counts: AdminSessions["counts"] | undefined; filter: AdminFilter; onFilter: (filter: AdminFilter) => void }

/** The five numbers an admin looks for first; those that stand for rows lead to them. */
export function SessionTiles({ counts, filter, onFilter }: SessionTilesProps) {
  const executors = useExecutors().data
  const last = useRecoveries().data?.[0]
  const running = executors?.filter((executor) => executor.status === "ready" && executor.agent_execution_id !== null).length
  const choose = (name: AdminFilter) => ({ pressed: filter === name, onPress: () => onFilter(filter === name ? "all" : name) })
  return (
    <div className="grid grid-cols-2 gap-2.5 @2xl:grid-cols-5">
      <Tile value={running} words={running === 1 ? "agent running" : "agents running"} />
      <Tile
        value={counts?.waiting}
        words={counts?.waiting === 1 ? "waits for a person" : "wait for a person"}
        tone="text-need"
        {...choose("waiting")}
      />
      <Tile value={counts?.interrupted} words="interrupted" tone="text-warn" {...choose("interrupted")} />
      <Tile
        value={counts?.executor_error}
        words={counts?.executor_error === 1 ? "executor error" : "executor errors"}
        tone="text-bad"
        {...choose("executor_error")}
      />
      <Link href="/admin/recoveries" className={cn(tileClass, "col-span-2 hover:border-line @2xl:order-none @2xl:col-span-1")}>
        <Figure>{last ? (last.took_ms === null ? "under way" : formatMs(last.took_ms)) : "–"}</Figure>
        <span className="text-s text-text-3">last recovery{last && `, ${last.found} found`}</span>
      </Link>
    </div>
  )
}

const tileClass = "block rounded-md border border-line-soft bg-panel px-[13px] py-2.5 text-left transition-colors"

function Figure({ children, tone }: { children: ReactNode; tone?: string | undefined }) {
  return <b className={cn("block font-[600] text-[20px] leading-[1.4] tracking-[-0.02em] tabular-nums", tone)}>{children}</b>
}

type TileProps = { value: number | undefined; words: string; tone?: string; pressed?: boolean; onPress?: () => void }

function Tile({ value, words, tone, pressed, onPress }: TileProps) {
  const inside = (
    <>
      <Figure tone={value ? tone : undefined}>{value?.toLocaleString("en") ?? "–"}</Figure>
      <span className="text-s text-text-3">{words}</span>
    </>
  )
  if (!onPress) return <div className={tileClass}>{inside}</div>
  return (
    <button
      type="button"
      aria-pressed={pressed}
      onClick={onPress}
      className={cn(tileClass, "hover:border-line", pressed && "border-line bg-hover")}
    >
      {inside}
    </button>
  )
}
