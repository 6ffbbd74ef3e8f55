"use client"

import { useState } from "react"
import { Button } from "@/components/ui/button"
import { ConfirmDialog } from "@/components/ui/confirm-dialog"
import { FormError } from "@/components/ui/field"
import { Section } from "@/components/ui/page"
import { browserName } from "@/lib/client/browser-name"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatFull, formatSeen, plural } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import { useEndSignIn, useSignIns } from "@/lib/client/queries/account"
import type { SignInMethod, SignInView } from "@/lib/contracts/people"

const methodWords: Record<SignInMethod, string> = { password: "password", oidc: "sign-in provider" }

export function SignInsSection() {
  const signIns = useSignIns()
  const [ending, setEnding] = useState<SignInView | "others" | null>(null)
  const others = signIns.data?.filter(({ current }) => !current).length ?? 0
  return (
    <Section title="Signed-in browsers" lead="Sign out those you do not know or no longer use.">
      {signIns.error && <FormError>{errorSentence(signIns.error)}</FormError>}
      <ul aria-label="Signed-in browsers" className="-my-2 divide-y divide-line-soft">
        {signIns.data?.map((signIn) => (
          <SignInRow key={signIn.id} signIn={signIn} onEnd={() => setEnding(signIn)} />
        ))}
      </ul>
      {others > 0 && (
        <Button className="mt-4" onClick={() => setEnding("others")}>
          Sign out all others…
        </Button>
      )}
      {ending && <EndDialog ending={ending} others={others} onClose={() => setEnding(null)} />}
    </Section>
  )
}

function SignInRow({ signIn, onEnd }: { signIn: SignInView; onEnd: () => void }) {
  const now = useNow(30_000)
  const name = browserName(signIn.user_agent)
  return (
    <li className="flex items-center gap-3 py-2">
      <div className="min-w-0 flex-1">
        <div className="truncate font-[500]" title={signIn.user_agent}>
          {name}
          {signIn.current && <span className="font-normal text-alive"> · this browser</span>}
        </div>
        <div className="text-s text-text-3">
          from {signIn.address} · by {methodWords[signIn.method]} · seen {now > 0 && formatSeen(signIn.last_seen_at, now)} · expires{" "}
          {formatFull(signIn.expires_at)}
        </div>
      </div>
      {!signIn.current && (
        <Button look="quiet" aria-label={`Sign out ${name}`} onClick={onEnd}>
          Sign out
        </Button>
      )}
    </li>
  )
}

function EndDialog({ ending, others, onClose }: { ending: SignInView | "others"; others: number; onClose: () => void }) {
  const end = useEndSignIn()
  const all = ending === "others"
  return (
    <ConfirmDialog
      title={all ? "Sign out all other browsers?" : "Sign out this browser?"}
      description={
        all
          ? `${plural(others, "browser")} will be signed out at once; this one stays signed in. Running agents go on.`
          : `${browserName(ending.user_agent)} at ${ending.address} is signed out at once. Running agents go on.`
      }
      confirm="Sign out"
      change={end}
      onConfirm={() => end.mutate(all ? null : ending.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}
