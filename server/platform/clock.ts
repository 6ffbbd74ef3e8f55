/** Time is an argument everywhere below; only this hands out the real one. */
export type Clock = { now(): Date }
export const realClock: Clock = { now: () => new Date() }
export const iso = (date: Date): string => date.toISOString()
export const hoursLater = (date: Date, hours: number): string => new Date(date.getTime() + hours * 3_600_000).toISOString()
