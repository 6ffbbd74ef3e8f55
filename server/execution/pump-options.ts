/** `sign_in`: the way in that a person chose for the agent, which is started anew with it. */
export type PumpOptions = {
  wake?: boolean
  fresh?: boolean
  sign_in?: string | null
  /** Nobody asked: no other agent is ended for it, and it does not wait for one. */
  onlyIfFree?: boolean
}

/** Asked again while the first asking waits: a message must not turn the fresh start that was chosen before it into a plain one. Pure. */
export const bothAsked = (earlier: PumpOptions, later: PumpOptions): PumpOptions => ({
  wake: earlier.wake === true || later.wake === true,
  fresh: earlier.fresh === true || later.fresh === true,
  sign_in: later.sign_in ?? earlier.sign_in ?? null,
  onlyIfFree: earlier.onlyIfFree === true && later.onlyIfFree === true,
})
