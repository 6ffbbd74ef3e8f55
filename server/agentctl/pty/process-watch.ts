/** After something happened; and then for as long as things happen. */
const SOON_MS = 300
const BUSY_MS = 1000
const SLOW_MS = 5000
/** A terminal nobody looks at and in which nothing happens is looked at no more. */
const ACTIVE_MS = 30_000

/** When to look what runs in a terminal: on what happens there, slowly while somebody watches, never for an idle one. */
export class ProcessWatch {
  private timer: NodeJS.Timeout | null = null
  private touchedAt = 0
  private lookedAt = 0

  constructor(
    private readonly look: () => void,
    private readonly isWatched: () => boolean,
  ) {}

  touched(): void {
    this.touchedAt = Date.now()
    if (this.timer === null) this.lookIn(SOON_MS)
  }

  stop(): void {
    if (this.timer) clearTimeout(this.timer)
    this.timer = null
  }

  private lookIn(ms: number): void {
    this.timer = setTimeout(() => {
      this.timer = null
      this.lookedAt = Date.now()
      this.look()
      if (this.timer === null && (this.isWatched() || this.lookedAt - this.touchedAt < ACTIVE_MS)) this.lookIn(this.pause())
    }, ms)
  }

  private pause(): number {
    return this.lookedAt - this.touchedAt < SLOW_MS ? BUSY_MS : SLOW_MS
  }
}
