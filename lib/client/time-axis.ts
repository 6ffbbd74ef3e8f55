const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((n) => n * DAY),
]

/** Round times between two moments, at most `most` of them; round in the reader's own time zone. */
export function ticksBetween(from: number, to: number, most: number, zoneOffsetMs = -new Date(from).getTimezoneOffset() * MINUTE) {
  const step = STEPS.find((candidate) => (to - from) / candidate <= most) ?? (STEPS.at(-1) as number)
  const ticks: number[] = []
  for (let at = Math.ceil((from + zoneOffsetMs) / step) * step - zoneOffsetMs; at <= to; at += step) ticks.push(at)
  return { step, ticks }
}

const seconds = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" })
const minutes = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" })
const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" })

export function tickLabel(at: number, step: number): string {
  const date = new Date(at)
  if (step < MINUTE) return seconds.format(date)
  if (step >= DAY || (date.getHours() === 0 && date.getMinutes() === 0)) return days.format(date)
  return minutes.format(date)
}

/** A moment in a list of moments: with its day when that is another one. */
export const momentLabel = (at: number, now: number) =>
  new Date(at).toDateString() === new Date(now).toDateString() ? seconds.format(at) : `${days.format(at)} ${seconds.format(at)}`
