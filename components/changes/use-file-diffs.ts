import { useQueries } from "@tanstack/react-query"
import { useMemo, useRef } from "react"
import type { FileChange } from "@/lib/client/change-list"
import type { DiffState } from "@/lib/client/change-rows"
import { fileDiffQuery } from "@/lib/client/queries/workspace"
import { type ParsedDiff, parseDiff } from "@/lib/client/unified-diff"
import type { FileDiff } from "@/lib/contracts/workspace"

const parsed = new WeakMap<FileDiff, ParsedDiff>()
function parse(answer: FileDiff): ParsedDiff | null {
  if (answer.diff === null) return null
  const diff = parsed.get(answer) ?? parseDiff(answer.diff)
  parsed.set(answer, diff)
  return diff
}

/** The diffs of the files that are wanted. While a newer version of one is on its way, the one before stays: nothing flickers. */
export function useFileDiffs(sessionId: string, wanted: readonly FileChange[]): ReadonlyMap<string, DiffState> {
  const results = useQueries({
    queries: wanted.map(({ of, file: { path, old_path, version } }) => fileDiffQuery(sessionId, { of, path, old_path, version })),
  })
  const last = useRef(new Map<string, DiffState>()).current
  const signature = results
    .map(({ dataUpdatedAt, errorUpdatedAt }, at) => `${wanted[at]?.key} ${dataUpdatedAt} ${errorUpdatedAt}`)
    .join("\n")
  // The signature stands for the results, which are new objects at every draw.
  return useMemo(() => {
    results.forEach(({ data, error }, at) => {
      const key = wanted[at]?.key ?? ""
      if (data) last.set(key, { parsed: parse(data), tooLarge: data.diff === null ? data.bytes : null, error: null })
      else if (error) last.set(key, { parsed: last.get(key)?.parsed ?? null, tooLarge: null, error })
    })
    return new Map(last)
  }, [signature])
}
