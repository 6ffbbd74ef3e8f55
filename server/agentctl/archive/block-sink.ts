import type { Writable } from "node:stream"

const BLOCK_BYTES = 512 * 1024
/** Blocks on their way to the compressor; more would only be memory. */
const IN_FLIGHT = 3

/** Gathers small writes into few large blocks, which are used again: packing needs the same memory however large the workspace is. */
export class BlockSink {
  private block: Buffer = Buffer.allocUnsafe(BLOCK_BYTES)
  private used = 0
  private inFlight = 0
  private readonly spare: Buffer[] = []
  private waiting: (() => void) | null = null
  private error: Error | null = null

  constructor(private readonly out: Writable) {
    out.on("error", (error) => this.fail(error))
  }

  /** True: await `room` before writing on. */
  get isFull(): boolean {
    return this.inFlight >= IN_FLIGHT || this.error !== null
  }

  async room(): Promise<void> {
    while (this.isFull) {
      if (this.error) throw this.error
      await new Promise<void>((resolve) => {
        this.waiting = resolve
      })
    }
  }

  write(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length) {
      const count = bytes.copy(this.block, this.used, at)
      at += count
      this.advance(count)
    }
  }

  /** Room to read a file into, without a copy; `advance` by what was read. */
  space(): Buffer {
    return this.block.subarray(this.used)
  }

  advance(count: number): void {
    this.used += count
    if (this.used === BLOCK_BYTES) this.flush()
  }

  async end(): Promise<void> {
    if (this.used > 0) this.flush()
    while (this.inFlight > 0 && !this.error) {
      await new Promise<void>((resolve) => {
        this.waiting = resolve
      })
    }
    if (this.error) throw this.error
    this.out.end()
  }

  private flush(): void {
    const full = this.block
    const bytes = full.subarray(0, this.used)
    this.block = this.spare.pop() ?? Buffer.allocUnsafe(BLOCK_BYTES)
    this.used = 0
    this.inFlight++
    this.out.write(bytes, (error) => {
      this.inFlight--
      this.spare.push(full)
      if (error) this.fail(error)
      else this.wake()
    })
  }

  private fail(error: Error): void {
    this.error ??= error
    this.wake()
  }

  private wake(): void {
    const { waiting } = this
    this.waiting = null
    waiting?.()
  }
}
