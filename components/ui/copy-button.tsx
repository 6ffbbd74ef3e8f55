"use client"

import { Check, Copy } from "lucide-react"
import { useEffect, useState } from "react"
import { cn } from "./cn"

export function CopyButton({ text, label = "Copy", className }: { text: string; label?: string; className?: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <button
      type="button"
      onClick={() => void copyText(text).then(setCopied)}
      className={cn(
        "inline-flex items-center gap-1 rounded-sm px-1.5 py-1 text-text-3 text-xs hover:bg-hover hover:text-text touch:min-h-11",
        className,
      )}
    >
      {copied ? <Check className="size-3 text-alive" /> : <Copy className="size-3" />}
      <span aria-live="polite">{copied ? "Copied" : label}</span>
    </button>
  )
}

/** The clipboard API exists on https and localhost only; elsewhere the old command still works. */
async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  }
  const field = document.createElement("textarea")
  field.value = text
  field.style.position = "fixed"
  field.style.opacity = "0"
  document.body.append(field)
  field.select()
  const done = document.execCommand("copy")
  field.remove()
  return done
}
