"use client"

import * as Radix from "@radix-ui/react-dialog"
import type { ReactNode } from "react"
import { cn } from "./cn"

export const veilClass = "fixed inset-0 z-40 bg-veil data-[state=open]:animate-[appear_.12s_ease-out]"

type DialogProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  description?: ReactNode
  children?: ReactNode
  className?: string
  /** Where the focus goes first, when that is not the first thing in it. */
  onOpenFocus?: () => void
  /** Where the focus goes afterwards, when that is not where it came from. */
  onCloseFocus?: () => void
}

export function Dialog({ open, onOpenChange, title, description, children, className, onOpenFocus, onCloseFocus }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={veilClass} />
        <Radix.Content
          {...(description ? {} : { "aria-describedby": undefined })}
          onOpenAutoFocus={(event) => {
            if (!onOpenFocus) return
            event.preventDefault()
            onOpenFocus()
          }}
          onCloseAutoFocus={(event) => {
            if (!onCloseFocus) return
            event.preventDefault()
            onCloseFocus()
          }}
          className={cn(
            "-translate-x-1/2 -translate-y-1/2 fixed top-1/2 left-1/2 z-50 max-h-[85dvh] w-[min(460px,calc(100vw-32px))] overflow-y-auto rounded-xl border border-line bg-raised px-[22px] pt-5 pb-[18px] shadow-pop outline-none data-[state=open]:animate-[appear_.14s_ease-out]",
            className,
          )}
        >
          <Radix.Title className="mb-1 font-[630] text-xl tracking-[-0.01em]">{title}</Radix.Title>
          {description && <Radix.Description className="text-text-2">{description}</Radix.Description>}
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

export const DialogActions = ({ children }: { children: ReactNode }) => <div className="mt-[18px] flex justify-end gap-2">{children}</div>
