import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible"
import { AppError } from "../../lib/contracts/errors"

/** Ten wrong passwords in five minutes shut one address out for the rest of them; the owner can still use a session that is open. */
const ATTEMPTS = 10
const WINDOW_SECONDS = 300

export function createSignInLimit() {
  const limiter = new RateLimiterMemory({ points: ATTEMPTS, duration: WINDOW_SECONDS })
  return {
    async count(key: string): Promise<void> {
      try {
        await limiter.consume(key)
      } catch (rejection) {
        const seconds = Math.ceil((rejection as RateLimiterRes).msBeforeNext / 1000)
        throw new AppError("RATE_LIMITED", `Too many attempts. Try again in ${Math.ceil(seconds / 60)} min.`, {
          retry_after_seconds: seconds,
        })
      }
    },
    forgive: (key: string) => limiter.delete(key),
  }
}
export type SignInLimit = ReturnType<typeof createSignInLimit>
