import type { ImportResult, SkippedRecord } from "@/lib/contracts/transfer"

const reasons: Record<SkippedRecord["reason"], string> = {
  torn: "cut off",
  not_json: "not readable",
  oversized: "too large",
  not_an_event: "not an event",
  seq_not_increasing: "out of order",
  seq_too_large: "with a number that is too large",
  too_deep: "nested too deep",
  unknown_kind: "of a kind unknown here",
  malformed: "malformed",
  second_end: "a second end of the same run",
  missing: "missing",
}

/** Where each was and why; what is listed is the beginning when there were many. */
export function skippedWords({ skipped, skipped_count }: ImportResult): string[] {
  const lines = skipped.map(({ file, line, reason, kept }) => {
    const place = line === null ? file : `${file}, line ${line}`
    return `${place}: ${reasons[reason]}${kept ? ", kept as it is" : ""}`
  })
  const more = skipped_count - lines.length
  return more > 0 ? [...lines, `and ${more} more`] : lines
}
