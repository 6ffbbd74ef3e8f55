import { createHash } from "node:crypto"
import { closeSync, openSync } from "node:fs"
import { Failure } from "../failure"
import {
  decodeName,
  type Format,
  MANIFEST_ENTRY,
  type ManifestEnd,
  type ManifestLine,
  parseEnd,
  parseLine,
  parseManifestHead,
} from "./archive-format"
import { openDecompressor, readTrailer } from "./compress"
import { EntryRules, placeOf } from "./entry-rules"
import { hostile, type TarBody, TarReader } from "./tar-read"

/** Looks into an archive without unpacking it, as strictly as unpacking does: nothing is written, and memory does not grow with it. */

/** The last line names what was left out; the others hold one name. */
const MAX_LINE_BYTES = 512 * 1024

type ManifestFile = Extract<ManifestLine, { sha256: string }>

/** Every entry to `take`, in the order of the archive. Of format 2 only the manifest is decompressed. */
export async function listArchive(file: string, maxBytes: number, take: (line: ManifestLine) => void): Promise<ManifestEnd> {
  const fd = openSync(file, "r")
  try {
    const manifestAt = readTrailer(fd)
    if (manifestAt !== null) {
      const lines = new ManifestLines(2, maxBytes, take)
      await readManifestAt(fd, manifestAt, (bytes) => lines.write(bytes))
      return lines.end()
    }
    const rules = new EntryRules(maxBytes)
    const lines = new ManifestLines(1, maxBytes, take)
    const reader = new TarReader((item) => {
      const place = rules.place(item)
      if (place === "head") return collected((text) => rules.readHead(text))
      return place === "manifest" ? { write: (bytes) => lines.write(bytes), end: () => undefined } : null
    })
    await readTar(fd, 0, reader)
    if (rules.format !== 1 || !rules.over) throw new Failure("ARCHIVE_BROKEN", "The archive has no manifest where it should be.")
    return lines.end()
  } finally {
    closeSync(fd)
  }
}

/**
 * The content of one file to `write`, and its line of the manifest; null when the archive has no such file. What was written is the
 * archived file only once this has resolved: it rejects when the content is not what the manifest says.
 */
export async function readArchivedFile(
  file: string,
  name: Buffer,
  maxBytes: number,
  write: (bytes: Buffer) => void,
): Promise<ManifestFile | null> {
  let line: ManifestFile | null = null
  await listArchive(file, maxBytes, (entry) => {
    if ("sha256" in entry && decodeName(entry.p).equals(name)) line = entry
  })
  const wanted = line as ManifestFile | null
  if (!wanted) return null
  const hash = createHash("sha256")
  let found = false
  const rules = new EntryRules(maxBytes)
  const reader = new TarReader((item) => {
    if (rules.place(item) === "head") return collected((text) => rules.readHead(text))
    if (!item.name.equals(name)) return null
    return {
      write: (bytes) => {
        hash.update(bytes)
        write(bytes)
      },
      end: () => {
        found = true
      },
    }
  })
  const fd = openSync(file, "r")
  try {
    await readTar(fd, 0, reader, () => found)
  } finally {
    closeSync(fd)
  }
  if (!found || hash.digest("hex") !== wanted.sha256)
    throw new Failure("ARCHIVE_BROKEN", "The file is not what the archive's manifest says.")
  return wanted
}

/** The manifest alone, from where it is compressed by itself. */
export async function readManifestAt(fd: number, at: number, write: (bytes: Buffer) => void): Promise<void> {
  let found = false
  const reader = new TarReader(({ name, type }) => {
    if (found || type !== "file" || name.toString("latin1") !== MANIFEST_ENTRY) throw hostile("its manifest is not where it says")
    found = true
    return { write, end: () => undefined }
  })
  await readTar(fd, at, reader)
  if (!found) throw new Failure("ARCHIVE_BROKEN", "The archive has no manifest.")
}

/** Decompresses into the reader, to the end or until `isEnough`. */
export async function readTar(fd: number, start: number, reader: TarReader, isEnough: () => boolean = () => false): Promise<void> {
  const { output, finished } = openDecompressor(fd, start)
  let ours: unknown = null
  try {
    for await (const chunk of output) {
      try {
        reader.write(chunk as Buffer)
      } catch (error) {
        ours = error
        throw error
      }
      // Leaving the loop ends the decompressor, which then fails; what was wanted is there.
      if (isEnough()) return
    }
  } catch (error) {
    output.destroy()
    // Its end follows from ours; only without one is the decompressor's word the reason.
    const why = await finished.then(
      () => error,
      (reason) => reason,
    )
    throw ours ?? why
  }
  await finished
  reader.end()
}

function collected(done: (text: string) => void): TarBody {
  const chunks: Buffer[] = []
  return { write: (bytes) => chunks.push(Buffer.from(bytes)), end: () => done(Buffer.concat(chunks).toString("utf8")) }
}

/** The manifest line by line: its head, its entries, its end, and nothing else. */
class ManifestLines {
  private rest: Buffer = Buffer.alloc(0)
  private lines = 0
  private entries = 0
  private bytes = 0
  private last: string | null = null

  constructor(
    private readonly format: Format,
    private readonly maxBytes: number,
    private readonly take: (line: ManifestLine) => void,
  ) {}

  write(bytes: Buffer): void {
    const data = this.rest.length > 0 ? Buffer.concat([this.rest, bytes]) : bytes
    let from = 0
    for (let to = data.indexOf(0x0a); to !== -1; to = data.indexOf(0x0a, from)) {
      this.line(data.toString("utf8", from, to))
      from = to + 1
    }
    this.rest = Buffer.from(data.subarray(from))
    if (this.rest.length > MAX_LINE_BYTES) throw untrue()
  }

  end(): ManifestEnd {
    const end = this.last === null || this.rest.length > 0 ? null : parseEnd(this.format, this.last)
    if (!end || end.entries !== this.entries) throw untrue()
    return end
  }

  /** Which line is the last is known when nothing follows it. */
  private line(text: string): void {
    if (this.lines++ === 0) {
      if (!parseManifestHead(this.format, text)) throw untrue()
      return
    }
    if (this.last !== null) this.entry(this.last)
    this.last = text
  }

  private entry(text: string): void {
    const line = parseLine(this.format, text)
    if (!line) throw untrue()
    placeOf(decodeName(line.p))
    if ("sha256" in line) this.bytes += line.size
    if (this.bytes > this.maxBytes) throw hostile("it unpacks to more than is allowed")
    this.entries++
    this.take(line)
  }
}

const untrue = () => new Failure("ARCHIVE_BROKEN", "The archive's manifest cannot be read.")
