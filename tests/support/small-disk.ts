import { execFileSync } from "node:child_process"
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A disk of a few megabytes, to be filled up and freed again. */
export class SmallDisk {
  readonly path = mkdtempSync(join(tmpdir(), "rewake-disk-"))
  private readonly filler = join(this.path, "filler")

  constructor(megabytes: number) {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", this.path])
  }

  /** To the last byte. */
  fill(): void {
    const fd = openSync(this.filler, "a")
    try {
      for (const size of [65_536, 4_096]) {
        try {
          for (;;) writeSync(fd, Buffer.alloc(size, 1))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error
        }
      }
    } finally {
      closeSync(fd)
    }
  }
  free(): void {
    rmSync(this.filler, { force: true })
  }
  unmount(): void {
    execFileSync("umount", ["-l", this.path])
    rmSync(this.path, { recursive: true, force: true })
  }
}
