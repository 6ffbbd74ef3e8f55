import type { Schedule, Step } from "./schedule"

/**
 * The fewest steps that still break it, as far as the time allows: halves first, then quarters, down to single steps. A schedule
 * meets its moments only now and then, so a part that holds once is tried again before it is kept out.
 */
export async function shrink(
  schedule: Schedule,
  breaks: (candidate: Schedule) => Promise<boolean>,
  hasTime: () => boolean,
): Promise<Schedule> {
  const TRIES = 2
  const stillBreaks = async (steps: readonly Step[]) => {
    for (let tries = 0; tries < TRIES && hasTime(); tries++) if (await breaks({ ...schedule, steps })) return true
    return false
  }
  let steps = schedule.steps
  for (let size = Math.ceil(steps.length / 2); size >= 1 && hasTime(); ) {
    let dropped = false
    for (let from = 0; from < steps.length && hasTime(); ) {
      const rest = [...steps.slice(0, from), ...steps.slice(from + size)]
      if (rest.length > 0 && (await stillBreaks(rest))) {
        steps = rest
        dropped = true
      } else from += size
    }
    if (size === 1 && !dropped) break
    size = size === 1 ? 1 : Math.ceil(size / 2)
  }
  return { ...schedule, steps }
}
