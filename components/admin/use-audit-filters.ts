import { useSearchParams } from "next/navigation"
import { useState } from "react"
import { auditSpan, isAuditAction, isAuditOutcome } from "@/lib/client/audit-words"
import { useSettled } from "@/lib/client/hooks"
import type { AuditFilters } from "@/lib/client/queries/audit"

const SETTLE_MS = 250
const NAMES = ["action", "outcome", "user", "since", "until"] as const
type Chosen = Record<(typeof NAMES)[number], string>
const NONE: Chosen = { action: "", outcome: "", user: "", since: "", until: "" }

/** The chosen filters stay in the address, so that a reload or a link shows the same rows. */
export function useAuditFilters() {
  const search = useSearchParams()
  const [chosen, setChosen] = useState<Chosen>(() => ({
    ...NONE,
    ...Object.fromEntries(NAMES.flatMap((name) => (search.has(name) ? [[name, search.get(name) ?? ""]] : []))),
  }))
  const user = useSettled(chosen.user.trim(), SETTLE_MS)
  const { action, outcome } = chosen
  const asked: AuditFilters = {
    action: isAuditAction(action) ? action : undefined,
    outcome: isAuditOutcome(outcome) ? outcome : undefined,
    user: user || undefined,
    ...auditSpan(chosen.since, chosen.until),
  }
  const choose = (change: Partial<Chosen>) => {
    const next = { ...chosen, ...change }
    setChosen(next)
    const kept = new URLSearchParams(Object.entries(next).filter(([, value]) => value !== ""))
    window.history.replaceState(null, "", kept.size === 0 ? "?" : `?${kept}`)
  }
  return {
    chosen,
    asked,
    choose,
    clear: () => choose(NONE),
    narrowed: Object.values(asked).some((value) => value !== undefined),
  }
}
export type AuditFiltersState = ReturnType<typeof useAuditFilters>
