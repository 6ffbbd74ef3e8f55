/** An entry at least every so many bytes: the price of finding a record is reading at most this much. */
const STEP_BYTES = 16 * 1024

/** Where records lie, sparsely. Offsets are logical: cutting the front of the file does not move them. */
export class SpoolIndex {
  private ns: number[] = []
  private offsets: number[] = []

  /** Call for every record in order; `force` marks a record whose number does not follow from the one before it. */
  add(n: number, offset: number, force = false): void {
    const last = this.offsets.at(-1)
    if (last !== undefined && !force && offset - last < STEP_BYTES) return
    this.ns.push(n)
    this.offsets.push(offset)
  }

  /** The nearest known record at or before `n`, and where the next known one begins. */
  atOrBefore(n: number): { n: number; offset: number; next: number | null } | null {
    let low = 0
    let high = this.ns.length - 1
    let found = -1
    while (low <= high) {
      const middle = (low + high) >> 1
      if ((this.ns[middle] ?? 0) <= n) {
        found = middle
        low = middle + 1
      } else high = middle - 1
    }
    if (found < 0) return null
    return { n: this.ns[found] ?? 0, offset: this.offsets[found] ?? 0, next: this.offsets[found + 1] ?? null }
  }

  /** Forgets what lies before, and knows the new beginning even when it had no entry of its own. */
  beginAt(n: number, offset: number): void {
    const later = this.offsets.findIndex((o) => o > offset)
    this.ns = [n, ...(later < 0 ? [] : this.ns.slice(later))]
    this.offsets = [offset, ...(later < 0 ? [] : this.offsets.slice(later))]
  }
}
