import type { z } from "zod"

/** Told once, and not at every look; a server that meets more damaged cells than this has other worries. */
const MOST_TOLD = 10_000
const told = new Set<string>()
let tell: (cell: string) => void = () => undefined

/** Who hears of cells that cannot be read. */
export function onDamagedColumn(listener: (cell: string) => void): void {
  tell = listener
}

/**
 * JSON text of a column, by its schema. What cannot be read is told once and counts as `fallback`, as null does: thrown from here,
 * one damaged cell would take the whole session with it. `cell` names it: table.column and the row's id.
 */
export function readColumn<T, F>(cell: string, text: string | null, schema: z.ZodType<T>, fallback: F): T | F {
  if (text === null) return fallback
  const parsed = schema.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  if (!told.has(cell) && told.size < MOST_TOLD) {
    told.add(cell)
    tell(cell)
  }
  return fallback
}

/** Undefined, which is no JSON, where it cannot be parsed. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
