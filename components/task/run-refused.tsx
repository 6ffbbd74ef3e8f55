import { Glyph } from "@/components/ui/glyph"

/** Says why nothing can be started, in the place where it would be. */
export function RunRefused({ reason, kept }: { reason: string; kept: string }) {
  return (
    <div role="status" className="flex items-baseline gap-2.5 rounded-lg border border-line bg-panel px-3.5 py-2.5">
      <Glyph name="warn" className="translate-y-[2px]" />
      <div className="min-w-0">
        <p>{reason}</p>
        <p className="text-s text-text-3">{kept}</p>
      </div>
    </div>
  )
}
