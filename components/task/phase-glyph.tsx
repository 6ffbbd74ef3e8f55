import { Glyph, type GlyphName } from "@/components/ui/glyph"
import { type Phase, phaseWord } from "@/lib/client/session-phase"

export const phaseGlyph: Record<Phase, GlyphName> = {
  needs_you: "need",
  working: "work",
  interrupted: "warn",
  error: "cross",
  idle: "idle",
  asleep: "sleep",
  completed: "done",
}

/** The sign of a state, with its word for those who cannot see it. */
export function PhaseGlyph({ phase, size, className }: { phase: Phase; size?: number; className?: string }) {
  return (
    <>
      <Glyph name={phaseGlyph[phase]} {...(size ? { size } : {})} {...(className ? { className } : {})} />
      <span className="sr-only">{phaseWord[phase]}: </span>
    </>
  )
}
