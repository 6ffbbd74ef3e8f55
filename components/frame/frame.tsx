"use client"

import { useParams, usePathname } from "next/navigation"
import { type ReactNode, useCallback, useEffect, useState } from "react"
import { ImportDialog } from "@/components/task/import-dialog"
import { cn } from "@/components/ui/cn"
import { useConnection } from "@/lib/client/hooks"
import { useTaskSync } from "@/lib/client/queries/tasks"
import { KeysDialog } from "./keys-dialog"
import { signInAgain } from "./leave"
import { Palette } from "./palette"
import { Sidebar } from "./sidebar"
import { TroubleBanner } from "./trouble-banner"
import { useAttention } from "./use-attention"
import { useFrameKeys } from "./use-frame-keys"

/** The list beside the page; on a phone, one of the two. */
export function Frame({ children }: { children: ReactNode }) {
  const onList = usePathname() === "/tasks"
  const taskId = useParams().taskId
  const [palette, setPalette] = useState(false)
  const [keys, setKeys] = useState(false)
  const [importing, setImporting] = useState(false)
  const showKeys = useCallback(() => setKeys(true), [])
  const togglePalette = useCallback(() => setPalette((open) => !open), [])
  useFrameKeys({ togglePalette, showKeys })
  useTaskSync()
  useAttention(typeof taskId === "string" ? taskId : undefined)
  useLeaveWhenSignedOut()
  return (
    <div className="grid h-dvh grid-cols-[264px_minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)] phone:grid-cols-1">
      <div className="col-span-full">
        <TroubleBanner />
      </div>
      <nav
        aria-label="Tasks"
        className={cn("flex min-h-0 flex-col border-line-soft border-r bg-panel phone:border-0", !onList && "phone:hidden")}
      >
        <Sidebar onShowKeys={showKeys} onImport={() => setImporting(true)} />
      </nav>
      <main className={cn("flex min-h-0 min-w-0 flex-col", onList && "phone:hidden")}>{children}</main>
      <Palette open={palette} onOpenChange={setPalette} onShowKeys={showKeys} onImport={() => setImporting(true)} />
      {importing && <ImportDialog onClose={() => setImporting(false)} />}
      <KeysDialog open={keys} onOpenChange={setKeys} />
    </div>
  )
}

function useLeaveWhenSignedOut(): void {
  const connection = useConnection()
  useEffect(() => {
    if (connection === "signed_out") signInAgain()
  }, [connection])
}
