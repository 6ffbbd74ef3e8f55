/** `sign_in`: the way in that a person chose for the agent, which is started anew with it. */
export type PumpOptions = {
  wake?: boolean
  fresh?: boolean
  sign_in?: string | null
  /** Nobody asked: no other agent is ended for it, and it does not wait for one. */
  onlyIfFree?: boolean
}

/** A second request for a session whose first one still waits: a message must not turn a chosen fresh start into a plain resume. Pure. */
export const bothAsked = (earlier: PumpOptions, later: PumpOptions): PumpOptions => ({
  wake: earlier.wake === true || later.wake === true,
  fresh: earlier.fresh === true || later.fresh === true,
  sign_in: later.sign_in ?? earlier.sign_in ?? null,
  onlyIfFree: earlier.onlyIfFree === true && later.onlyIfFree === true,
})
