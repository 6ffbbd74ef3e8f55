/** The same seed gives the same numbers on every machine (mulberry32). */
export function createRandom(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  return {
    below,
    between: (from: number, to: number) => from + below(to - from + 1),
    chance: (p: number) => next() < p,
    pick: <T>(items: readonly T[]): T => items[below(items.length)] as T,
    /** Each choice as often as its weight says. */
    weighted<T>(choices: readonly (readonly [number, T])[]): T {
      let left = next() * choices.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, choice] of choices) {
        left -= weight
        if (left < 0) return choice
      }
      return (choices.at(-1) as readonly [number, T])[1]
    },
  }
}
export type Random = ReturnType<typeof createRandom>
