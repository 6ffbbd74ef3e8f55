/** Short words for spans, times and sizes; English throughout, 24-hour clock. */
export function formatAgo(iso: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000)
  if (seconds < 60) return "now"
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

/** "just now" or "3 h ago". */
export const formatSeen = (iso: string, now: number) => {
  const ago = formatAgo(iso, now)
  return ago === "now" ? "just now" : `${ago} ago`
}

export function formatSpan(ms: number): string {
  if (ms < 950) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" })
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" })
const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" })

export const formatFull = (iso: string) => full.format(new Date(iso))

/** "14:03", "tomorrow 09:20", "yesterday 16:02" or "12 Nov 09:20". */
export function formatMoment(iso: string, now: number): string {
  const at = new Date(iso)
  const midnight = new Date(now)
  midnight.setHours(0, 0, 0, 0)
  const days = Math.floor((at.getTime() - midnight.getTime()) / 86_400_000)
  if (days === 0) return clock.format(at)
  if (days === 1) return `tomorrow ${clock.format(at)}`
  if (days === -1) return `yesterday ${clock.format(at)}`
  return `${day.format(at)} ${clock.format(at)}`
}

/** How long something is kept: "24 hours", "90 min", "2 s". */
export function formatHours(hours: number): string {
  if (hours >= 2 || hours === 1) return plural(Math.round(hours * 10) / 10, "hour")
  return hours * 60 >= 1 ? `${Math.round(hours * 60)} min` : `${Math.round(hours * 3600)} s`
}

/** "40 min" or "2 h" until then, never less than a minute. */
export function formatUntil(iso: string, now: number): string {
  const minutes = Math.max(1, Math.ceil((Date.parse(iso) - now) / 60_000))
  return minutes < 100 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`
  return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MB`
}

const count = new Intl.NumberFormat("en")
export const formatCount = (n: number): string => count.format(n)
export const plural = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`

/** An agent may count in a currency of its own, as in credits: that is shown as it says it. */
export function formatCost({ amount, currency }: { amount: number; currency: string }): string {
  if (/^[A-Z]{3}$/.test(currency)) return new Intl.NumberFormat("en", { style: "currency", currency }).format(amount)
  return `${new Intl.NumberFormat("en").format(amount)} ${currency}`
}
