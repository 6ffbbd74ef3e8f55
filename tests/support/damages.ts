import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"

/** What disks, full or failing, and people do to a small file. Each leaves something that cannot be read as what it was. */
export const damages: Record<string, (file: string) => void> = {
  deleted: (file) => rmSync(file),
  emptied: (file) => truncateSync(file),
  "cut in half": (file) => truncateSync(file, Math.floor(readFileSync(file).length / 2)),
  "filled with garbage": (file) => writeFileSync(file, Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 167 + 41) % 256))),
  "filled with NULs": (file) => writeFileSync(file, Buffer.alloc(readFileSync(file).length)),
  "of the wrong type": (file) => writeFileSync(file, "[null, 7]"),
  "an object without its fields": (file) => writeFileSync(file, "{}"),
  "a folder": (file) => {
    rmSync(file)
    mkdirSync(`${file}/inside`, { recursive: true })
  },
}
