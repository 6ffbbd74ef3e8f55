import { z } from "zod"

export const WaitKind = z.enum(["permission", "question", "tool_result"])
export type WaitKind = z.infer<typeof WaitKind>

/** `kind` is the agent's own hint (allow_once, allow_always, reject_once, reject_always); it decides colour and order, nothing else. */
export const WaitOption = z.object({ id: z.string(), label: z.string(), kind: z.string() })
export type WaitOption = z.infer<typeof WaitOption>

export const Outcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("selected"), option_id: z.string() }),
  z.object({ kind: z.literal("cancelled") }),
])
export type Outcome = z.infer<typeof Outcome>

export const sameOutcome = (a: Outcome, b: Outcome): boolean =>
  a.kind === "selected" ? b.kind === "selected" && a.option_id === b.option_id : a.kind === b.kind

export const Wait = z.object({
  token_id: z.string(),
  secret: z.string(),
  wait_kind: WaitKind,
  title: z.string(),
  detail: z.string().nullable(),
  options: z.array(WaitOption),
  deadline_at: z.string(),
})
export type Wait = z.infer<typeof Wait>
