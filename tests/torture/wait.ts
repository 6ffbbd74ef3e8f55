/** A person does not look for longer: what is waited for may never come, and that is for the checks to find. */
export const PATIENCE_MS = 1_500
export const LOOK_MS = 10
/** For what asks a database or a daemon and may take seconds: asked more often, it would take the CPU time that the answer needs. */
export const SLOW_LOOK_MS = 50

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export async function untilOrNever(look: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await pause(LOOK_MS)) if (await look()) return
}
