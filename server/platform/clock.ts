/** Time is an argument everywhere below; only this hands out the real one. */
export type Clock = { now(): Date }
export const realClock: Clock = { now: () => new Date() }
