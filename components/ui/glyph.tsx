import { cn } from "./cn"

/** The few signs of state; each has a shape of its own, so that colour is never the only difference. */
export type GlyphName = "work" | "need" | "idle" | "sleep" | "warn" | "done" | "cross"

const shapes: Record<GlyphName, React.ReactNode> = {
  work: <circle cx="7" cy="7" r="5.2" strokeWidth="1.7" strokeDasharray="22 11" />,
  need: <path d="M7 1.2 12.8 7 7 12.8 1.2 7Z" fill="currentColor" stroke="none" />,
  idle: <circle cx="7" cy="7" r="4" strokeWidth="1.6" />,
  sleep: <path d="M11.6 8.7A5 5 0 0 1 5.3 2.4a5 5 0 1 0 6.3 6.3Z" strokeWidth="1.5" />,
  warn: (
    <>
      <path d="M7 1.8 13 12.2H1Z" strokeWidth="1.5" strokeLinejoin="round" />
      <path d="M7 5.6v3M7 10.2v.3" strokeWidth="1.5" />
    </>
  ),
  done: <path d="m2.5 7.4 3 3 6-6.8" strokeWidth="1.8" />,
  cross: <path d="m3.5 3.5 7 7m0-7-7 7" strokeWidth="1.7" />,
}

const colours: Record<GlyphName, string> = {
  work: "text-work animate-turn",
  need: "text-need",
  idle: "text-text-3",
  sleep: "text-text-3",
  warn: "text-warn",
  done: "text-alive",
  cross: "text-bad",
}

export function Glyph({ name, size = 13, className }: { name: GlyphName; size?: number; className?: string }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 14 14"
      fill="none"
      stroke="currentColor"
      aria-hidden="true"
      className={cn("shrink-0", colours[name], className)}
    >
      {shapes[name]}
    </svg>
  )
}
