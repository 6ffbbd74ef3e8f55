"use client"

import { useState } from "react"
import { Button } from "@/components/ui/button"
import { useHydrated } from "@/lib/client/hooks"
import { useProviderHost } from "@/lib/client/queries/account"
import { signInWithProvider } from "./sign-in"

type ProviderButtonProps = {
  verb: "Sign in" | "Join"
  callbackUrl: string
  disabled?: boolean
  /** Done first; the page is left only when it succeeds. */
  prepare?: () => Promise<unknown>
  onError: (error: unknown) => void
}

/** The way in by the provider, below the one by password; nothing where the server has no provider. */
export function ProviderButton({ verb, callbackUrl, disabled = false, prepare, onError }: ProviderButtonProps) {
  const hydrated = useHydrated()
  const host = useProviderHost()
  const [busy, setBusy] = useState(false)
  if (host === null) return null
  const leave = async () => {
    setBusy(true)
    try {
      await prepare?.()
      await signInWithProvider(callbackUrl)
    } catch (error) {
      setBusy(false)
      onError(error)
    }
  }
  return (
    <>
      <div
        aria-hidden="true"
        className="flex items-center gap-3 text-s text-text-3 before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line"
      >
        or
      </div>
      <Button disabled={!hydrated || busy || disabled} onClick={() => void leave()} className="py-[7px]">
        <span className="truncate">
          {verb} with {host}
        </span>
      </Button>
    </>
  )
}
