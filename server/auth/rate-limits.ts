import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible"
import { LIMITS, type LimitName } from "../../lib/contracts/api"
import { AppError } from "../../lib/contracts/errors"

/** Calls per user or address, by the names of the API table. Counted by each server for itself. */
export function createRateLimits() {
  const names = Object.keys(LIMITS) as LimitName[]
  const limiters = new Map(
    names.map((name) => [name, new RateLimiterMemory({ points: LIMITS[name].calls, duration: LIMITS[name].seconds })]),
  )
  return {
    async count(name: LimitName, key: string): Promise<void> {
      await consume(limiters.get(name) as RateLimiterMemory, key)
    },
  }
}
export type RateLimits = ReturnType<typeof createRateLimits>

/** `first`: the one that found the limit reached; the log tells of this one, not of all that follow. */
export class LimitReached extends AppError<"RATE_LIMITED"> {
  constructor(
    message: string,
    seconds: number,
    readonly first: boolean,
  ) {
    super("RATE_LIMITED", message, { retry_after_seconds: seconds })
  }
}

/** Takes one, or says how long to wait. */
export async function consume(limiter: RateLimiterMemory, key: string): Promise<void> {
  try {
    await limiter.consume(key)
  } catch (rejection) {
    const { msBeforeNext, consumedPoints } = rejection as RateLimiterRes
    const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
    const wait = seconds < 60 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
    throw new LimitReached(`Too many attempts. Try again in ${wait}.`, seconds, consumedPoints === limiter.points + 1)
  }
}
