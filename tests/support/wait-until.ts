/** Waits for something to become true. The limit only decides when a hang is called one. */
export async function waitUntil<T>(
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  what: string,
  limitMs = 60_000,
): Promise<T> {
  for (const deadline = Date.now() + limitMs; ; ) {
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    if (Date.now() > deadline) throw new Error(`waited ${limitMs} ms in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
