"use client"

import { KeyRound, SquareTerminal } from "lucide-react"
import Link from "next/link"
import { CommandText } from "@/components/ui/command-text"
import { Dialog } from "@/components/ui/dialog"
import { useMe } from "@/lib/client/queries/account"
import type { SignInWay } from "@/lib/contracts/agent-setup"

type SignInDialogProps = {
  agentName: string
  methods: readonly SignInWay[]
  onChoose: (method: SignInWay) => void
  onClose: () => void
}

/** The agent's own ways of signing in. What it does with them is between it and its maker; nothing of it passes through here. */
export function SignInDialog({ agentName, methods, onChoose, onClose }: SignInDialogProps) {
  const admin = useMe().data?.role === "admin"
  const choose = (method: SignInWay) => {
    onClose()
    onChoose(method)
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Sign in to ${agentName}`}
      description="It is started again once it is signed in, and your message is delivered then."
    >
      {methods.length > 0 && (
        <ul className="mt-3 grid gap-1.5">
          {methods.map((method) => (
            <li key={method.id}>
              <button
                type="button"
                onClick={() => choose(method)}
                className="flex w-full items-center gap-3 rounded-md border border-line-soft bg-panel px-[13px] py-[9px] text-left transition-colors hover:bg-hover [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-text-3"
              >
                {method.command_line ? <SquareTerminal /> : <KeyRound />}
                <span className="min-w-0">
                  <span className="block font-[530]">{method.name}</span>
                  {method.description && <span className="block text-s text-text-2">{method.description}</span>}
                  {method.command_line && (
                    <>
                      <span className="block text-s text-text-3">Runs in a new terminal:</span>
                      <CommandText command={method.command_line} />
                    </>
                  )}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <p className="mt-3 text-s text-text-3">
        {admin ? (
          <>
            Or give it a key of yours, stored encrypted, on the{" "}
            <Link href="/admin/agents" className="text-text-2 underline underline-offset-2">
              agents page
            </Link>
            , and retry.
          </>
        ) : (
          "An admin can also give it a key, on the agents page."
        )}
      </p>
    </Dialog>
  )
}
