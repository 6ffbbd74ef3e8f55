import { hash, verify } from "@node-rs/argon2"

/** argon2id with the parameters OWASP recommends for interactive sign-in. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export const hashPassword = (password: string) => hash(password, PARAMETERS)
export const passwordMatches = (stored: string, password: string) => verify(stored, password).catch(() => false)

/** Verified against when there is no such user, so that the answer takes as long and tells nothing. */
let decoy: Promise<string> | null = null
export const decoyHash = () => {
  decoy ??= hashPassword("nobody has this password")
  return decoy
}
