import { isIPv6 } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import { RateLimiterMemory } from "rate-limiter-flexible"
import { DURATIONS } from "../../lib/host/durations"
import { createKeyedQueue } from "../platform/keyed-queue"
import { consume } from "./rate-limits"

const WINDOW_SECONDS = 300
/** Wrong passwords in that time, for one account from one address, and for any accounts from one address. */
const PER_ACCOUNT_AND_ADDRESS = 10
const PER_ADDRESS = 50

export type Attempt = {
  email: string
  address: string
  /** The browser has signed this account in before: by its device cookie. */
  device: string | null
}

/**
 * Guesses are counted by address, and by account and address together: whoever guesses at an account from elsewhere shuts out
 * nobody but himself. A device the account is known on is never refused, only slowed down: its owner has the right password.
 */
export function createSignInLimit() {
  const perAccount = new RateLimiterMemory({ points: PER_ACCOUNT_AND_ADDRESS, duration: WINDOW_SECONDS })
  const perAddress = new RateLimiterMemory({ points: PER_ADDRESS, duration: WINDOW_SECONDS })
  const perDevice = new RateLimiterMemory({ points: PER_ACCOUNT_AND_ADDRESS, duration: WINDOW_SECONDS })
  const turns = createKeyedQueue()
  const accountKey = ({ email, address }: Attempt) => `${networkOf(address)}|${email}`
  const deviceKey = ({ email, device }: Attempt) => `${device}|${email}`

  return {
    /** Counted before the password is looked at: many at once must not all find room. */
    async count(attempt: Attempt): Promise<void> {
      if (attempt.device !== null) {
        const within = await perDevice.consume(deviceKey(attempt)).catch(() => null)
        if (!within) await turns.run(deviceKey(attempt), () => delay(DURATIONS.signInSlowdownMs))
        return
      }
      await consume(perAccount, accountKey(attempt))
      await consume(perAddress, networkOf(attempt.address))
    },
    /** The password was right: this attempt was none. */
    async succeeded(attempt: Attempt): Promise<void> {
      if (attempt.device !== null) await perDevice.delete(deviceKey(attempt))
      else {
        await perAccount.delete(accountKey(attempt))
        await perAddress.reward(networkOf(attempt.address))
      }
    },
    /** For a signed-in user who must say the password again: a stolen cookie must not be a way to guess it. */
    async countConfirmation(userId: string): Promise<void> {
      await consume(perAccount, `confirm|${userId}`)
    },
    confirmed: (userId: string) => perAccount.delete(`confirm|${userId}`),
  }
}
export type SignInLimit = ReturnType<typeof createSignInLimit>

/** One subscriber has a whole /64 of IPv6 addresses. Pure. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = "", tail = ""] = address.toLowerCase().split("%")[0]?.split("::") ?? []
  const front = head.split(":").filter(Boolean)
  const back = tail.split(":").filter(Boolean)
  const groups = [...front, ...Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => "0"), ...back]
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")}::/64`
}
