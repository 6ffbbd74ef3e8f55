import { openSync } from "node:fs"

/**
 * Terminals this daemon holds. The addon opens them without close-on-exec, and Node has no call that sets it: whoever is started
 * would keep them open, and a shell would not hear that its daemon was killed.
 */
const masters = new Set<number>()
let nothing: number | null = null

export function noteMaster(fd: number): () => void {
  masters.add(fd)
  return () => masters.delete(fd)
}

/** What a child is given; in the place of each terminal it has nothing. */
export function withoutTerminals<const I, const O, const E>(stdio: [I, O, E]): [I, O, E] {
  if (masters.size === 0) return stdio
  nothing ??= openSync("/dev/null", "r+")
  const given: unknown[] = [...stdio]
  for (const fd of masters) given[fd] = nothing
  // Everything between is closed in the child by itself.
  return Array.from(given, (one) => one ?? "ignore") as [I, O, E]
}
