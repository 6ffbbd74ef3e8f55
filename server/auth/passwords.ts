import * as argon2 from "@node-rs/argon2"
import { AppError } from "../../lib/contracts/errors"

/** argon2id with the parameters OWASP recommends for interactive sign-in. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Each takes 19 MB and a core: more at once would take the machine from everybody who is signed in. */
const AT_ONCE = 2
const WAITING = 64

/** Hashing and comparing passwords, so many at a time; the rest wait in line, up to a length. */
export function createPasswords({ hash, verify }: Pick<typeof argon2, "hash" | "verify"> = argon2) {
  let running = 0
  const waiting: (() => void)[] = []

  /** `first`: goes to the head of the line, whatever its length, so that strangers' guesses cannot keep a known device out. */
  async function inTurn<T>(work: () => Promise<T>, first: boolean): Promise<T> {
    if (running >= AT_ONCE) {
      if (!first && waiting.length >= WAITING)
        throw new AppError("RATE_LIMITED", "Too many people are signing in. Try again in a moment.", { retry_after_seconds: 1 })
      await new Promise<void>((go) => (first ? waiting.unshift(go) : waiting.push(go)))
    } else running += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }

  /** Compared with when there is no such user, so that the answer takes as long and tells nothing. */
  let decoy: Promise<string> | null = null
  const decoyHash = () => {
    decoy ??= hash("nobody has this password", PARAMETERS)
    return decoy
  }

  return {
    hash: (password: string) => inTurn(() => hash(password, PARAMETERS), false),
    /** `stored` null: nothing matches. */
    matches: (stored: string | null, password: string, options: { first?: boolean } = {}) =>
      inTurn(async () => {
        const matches = await verify(stored ?? (await decoyHash()), password).catch(() => false)
        return matches && stored !== null
      }, options.first ?? false),
  }
}
export type Passwords = ReturnType<typeof createPasswords>
