import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"

const ALGORITHM = "aes-256-gcm"
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Text that only this installation can read. Bound to its place: what is moved to another one does not open. The first secret
 * seals, each of them opens.
 */
export function createSealing(secrets: readonly [string, ...string[]], purpose: string) {
  const keyOf = (secret: string) => Buffer.from(hkdfSync("sha256", secret, "", purpose, 32))
  const newest = keyOf(secrets[0])
  const older = secrets.slice(1).map(keyOf)
  const placeOf = (place: readonly string[]) => Buffer.from(JSON.stringify(place))

  function seal(place: readonly string[], value: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, newest, nonce).setAAD(placeOf(place))
    const sealed = Buffer.concat([cipher.update(value, "utf8"), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url")
  }

  function openWith(key: Buffer, place: readonly string[], text: string): string | null {
    const bytes = Buffer.from(text, "base64url")
    try {
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(placeOf(place))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8")
    } catch {
      return null
    }
  }

  function openWithAny(keys: readonly Buffer[], place: readonly string[], text: string): string | null {
    for (const key of keys) {
      const value = openWith(key, place, text)
      if (value !== null) return value
    }
    return null
  }

  return {
    seal,
    /** Throws when it was sealed with none of these secrets, or elsewhere. */
    open(place: readonly string[], text: string): string {
      const value = openWithAny([newest, ...older], place, text)
      if (value === null) throw new Error("sealed with another secret, or for another place")
      return value
    },
    /**
     * What an older secret sealed is sealed with the first one: a change for each such row, made by `change`. It should name the
     * row as it was read, since another server may do the same.
     */
    reseal<Row extends { sealed: string }, Change>(
      rows: readonly Row[],
      placeIn: (row: Row) => readonly string[],
      change: (row: Row, sealed: string) => Change,
    ): Change[] {
      return rows.flatMap((row) => {
        const place = placeIn(row)
        if (openWith(newest, place, row.sealed) !== null) return []
        const value = openWithAny(older, place, row.sealed)
        return value === null ? [] : [change(row, seal(place, value))]
      })
    },
  }
}
