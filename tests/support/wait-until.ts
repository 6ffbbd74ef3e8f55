/** How soon something is looked at again. */
const FIRST_LOOK_MS = 20
/** What asks a server backs off up to this: asking all the time would take the CPU time that the answer needs. */
const LONGEST_LOOK_MS = 200
const BACK_OFF = 1.25

/** Waits for something to become true. The limit only decides when a hang is called one. */
export async function waitUntil<T>(
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  what: string,
  limitMs = 60_000,
): Promise<T> {
  let pause = FIRST_LOOK_MS
  for (const deadline = Date.now() + limitMs; ; ) {
    const looked = look()
    const found = await looked
    if (found !== null && found !== undefined && found !== false) return found
    if (Date.now() > deadline) throw new Error(`waited ${limitMs} ms in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pause))
    if (looked instanceof Promise) pause = Math.min(pause * BACK_OFF, LONGEST_LOOK_MS)
  }
}
