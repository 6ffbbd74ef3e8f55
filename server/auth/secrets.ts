import { createHash, randomBytes } from "node:crypto"

export const newSecret = (prefix: string) => `${prefix}_${randomBytes(32).toString("base64url")}`
/** Random secrets need no slow hash: they cannot be guessed, only stolen. */
export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")
