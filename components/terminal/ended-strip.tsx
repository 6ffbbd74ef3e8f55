"use client"

import { X } from "lucide-react"
import { useState } from "react"
import { Button, IconButton } from "@/components/ui/button"
import { CommandText } from "@/components/ui/command-text"
import type { EndedProcess } from "@/lib/client/ended-processes"
import { readStored, writeStored } from "@/lib/client/stored"

const storedAs = (key: string) => `rewake.ended.${key}`

/** What went with the process before this one. Nothing is started by itself. */
export function EndedStrip({ ended, onRun }: { ended: readonly EndedProcess[]; onRun: (command: string) => void }) {
  const [settled, setSettled] = useState<ReadonlySet<string>>(new Set())
  const left = ended.filter(({ key }) => !settled.has(key) && readStored(storedAs(key)) === null)
  const settle = (key: string) => {
    writeStored(storedAs(key), "settled")
    setSettled((before) => new Set(before).add(key))
  }
  if (left.length === 0) return null
  return (
    <ul aria-label="Ended with the executor" className="shrink-0 border-line-soft border-t bg-panel text-s">
      {left.map(({ key, command }) => (
        <li key={key} className="flex min-h-8 items-center gap-2 px-3 touch:min-h-12">
          <span className="shrink-0 text-text-3">Ended</span>
          <CommandText command={command} />
          <span className="ml-auto" />
          <Button
            look="quiet"
            className="py-[2px] text-text"
            onClick={() => {
              settle(key)
              onRun(command)
            }}
          >
            Run again
          </Button>
          <IconButton label={`Dismiss ${command}`} className="size-6" onClick={() => settle(key)}>
            <X className="size-3.5" />
          </IconButton>
        </li>
      ))}
    </ul>
  )
}
