import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"

const ALGORITHM = "aes-256-gcm"
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Text that only this installation can read. Bound to its place: what is moved to another one does not open. */
export function createSealing(secret: string, purpose: string) {
  const key = Buffer.from(hkdfSync("sha256", secret, "", purpose, 32))
  const placeOf = (place: readonly string[]) => Buffer.from(JSON.stringify(place))
  return {
    seal(place: readonly string[], value: string): string {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(placeOf(place))
      const sealed = Buffer.concat([cipher.update(value, "utf8"), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url")
    },
    /** Throws when it was sealed with another secret, or elsewhere. */
    open(place: readonly string[], text: string): string {
      const bytes = Buffer.from(text, "base64url")
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(placeOf(place))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8")
    },
  }
}
