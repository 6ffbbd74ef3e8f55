"use client"

import { useEffect, useRef, useState } from "react"
import { Button } from "@/components/ui/button"
import { Glyph } from "@/components/ui/glyph"
import { formatBytes } from "@/lib/client/format"
import { takeFocus } from "@/lib/client/hooks"
import { readEarlier } from "@/lib/client/queries/workers"
import { openScreen, type Screen } from "./xterm-screen"

/** One step back. More would take long to draw, less would be asked for too often. */
const PAGE_BYTES = 256 * 1024

type EarlierOutputProps = { sessionId: string; workerId: string; name: string; before: number; onClose: () => void }

/** What lies further back than the page keeps, page by page, drawn anew from the raw output. The live terminal goes on behind it. */
export function EarlierOutput({ sessionId, workerId, name, before, onClose }: EarlierOutputProps) {
  const host = useRef<HTMLDivElement>(null)
  const screen = useRef<Screen | null>(null)
  const pages = useRef<Uint8Array[]>([])
  const [first, setFirst] = useState(before)
  const [state, setState] = useState<"loading" | "shown" | "failed">("loading")

  const load = async (until: number) => {
    setState("loading")
    try {
      if (!screen.current && host.current) {
        screen.current = await openScreen(host.current)
        screen.current.terminal.options.disableStdin = true
        screen.current.terminal.options.scrollback = 100_000
        screen.current.fit.fit()
      }
      const { offset, bytes } = await readEarlier(sessionId, workerId, until, PAGE_BYTES)
      pages.current.unshift(bytes)
      setFirst(offset)
      const { terminal } = screen.current ?? {}
      terminal?.reset()
      for (const page of pages.current) terminal?.write(page)
      terminal?.write("", () => terminal.scrollToTop())
      setState("shown")
    } catch {
      setState("failed")
    }
  }
  useEffect(() => {
    void load(before)
    return () => {
      screen.current?.dispose()
      screen.current = null
      pages.current = []
    }
  }, [])

  return (
    <section
      aria-label={`Earlier output of ${name}`}
      className="absolute inset-0 z-20 flex flex-col bg-bg"
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === "Escape") onClose()
      }}
    >
      <div className="flex shrink-0 items-center gap-2 border-line-soft border-b bg-panel px-3 py-1 text-s text-text-2">
        {state === "loading" && <Glyph name="work" size={11} className="animate-turn" />}
        <span role="status">
          {state === "failed" ? "Earlier output could not be loaded." : first > 0 ? `${formatBytes(first)} earlier` : "The beginning"}
        </span>
        <span className="ml-auto" />
        <Button
          look="quiet"
          className="py-[2px]"
          disabled={state === "loading" || (first === 0 && state !== "failed")}
          onClick={() => void load(first)}
        >
          Load earlier output
        </Button>
        <Button className="py-[2px]" ref={takeFocus} onClick={onClose}>
          Back to live
        </Button>
      </div>
      <div ref={host} className="relative min-h-0 flex-1" />
    </section>
  )
}
