import { createHash } from "node:crypto"
import { gzipSync } from "node:zlib"
import { trailer } from "../../server/agentctl/archive/compress"

export type Entry = { name: string; type?: string; content?: Buffer | string; mode?: number; target?: string; size?: number; pax?: string }

const HEAD = { format: 1, created_at: "2026-01-01T00:00:00.000Z", workspace_kind: "folder", files: 1, bytes: 1 }
export const head = (change: object = {}): Entry => ({ name: "rewake.json", content: JSON.stringify({ ...HEAD, ...change }) })

/** One entry of a tar exactly as told, however wrong. */
function entry({ name, type = "0", content = "", mode = 0o644, target = "", size, pax }: Entry): Buffer {
  const body = Buffer.from(content)
  const block = Buffer.alloc(512)
  block.write(name, 0, 100, "latin1")
  block.write(`${mode.toString(8).padStart(7, "0")}\0`, 100, "latin1")
  block.write("0000000\0", 108, "latin1")
  block.write("0000000\0", 116, "latin1")
  block.write(`${(size ?? body.length).toString(8).padStart(11, "0")}\0`, 124, "latin1")
  block.write("00000000000\0", 136, "latin1")
  block.fill(" ", 148, 156)
  block.write(type, 156, "latin1")
  block.write(target, 157, 100, "latin1")
  block.write("ustar\u000000", 257, "latin1")
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1")
  const before = pax === undefined ? [] : [entry({ name: "pax", type: "x", content: pax })]
  return Buffer.concat([...before, block, body, Buffer.alloc((512 - (body.length % 512)) % 512)])
}

const nameOf = ({ name, pax }: Entry) => /path=([^\n]*)/.exec(pax ?? "")?.[1] ?? name

/** A long header's record; its length counts itself. */
export function pax(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  for (let length = rest.length; ; length++) if (`${length}${rest}`.length === length) return `${length}${rest}`
}

/** The manifest that would be true for these entries. */
export function manifest(entries: Entry[], format: 1 | 2 = 1, change: object = {}): Entry {
  const mtime = format === 2 ? { mtime: 0 } : {}
  const lines = entries.map((e) => {
    const mode = (e.mode ?? 0o644) & 0o777
    if (e.type === "2") return { p: nameOf(e), link: e.target, ...mtime }
    if (e.type === "5") return { p: nameOf(e), folder: true, ...(format === 2 && { mode }), ...mtime }
    const content = Buffer.from(e.content ?? "")
    return { p: nameOf(e), size: content.length, mode, sha256: createHash("sha256").update(content).digest("hex"), mtime: 0 }
  })
  const files = entries.filter((e) => /^(workspace|agent)\//.test(nameOf(e)) && e.type !== "5").length
  const total = format === 1 ? { left_out_total: 0 } : {}
  const end = { end: true, entries: entries.length, files, bytes: 0, left_out: [], ...total, ...change }
  return {
    name: "manifest.jsonl",
    content: [{ format, created_at: HEAD.created_at }, ...lines, end].map((line) => `${JSON.stringify(line)}\n`).join(""),
  }
}

export const tar = (entries: Entry[], end = Buffer.alloc(1024)): Buffer => Buffer.concat([...entries.map(entry), end])
/** Head, entries, and their true manifest. */
export const whole = (entries: Entry[]): Buffer => {
  const all = [head(), ...entries]
  return gzipSync(tar([...all, manifest(all)]))
}

const NOTHING = Buffer.alloc(0)
/** The same in format 2: the manifest is compressed by itself, and the last bytes say where. `change` makes one of its parts untrue. */
export function whole2(entries: Entry[], change: { end?: object; listed?: Entry[]; manifestAt?: number; more?: Entry[] } = {}): Buffer {
  const all = [head({ format: 2 }), ...entries]
  const content = gzipSync(tar(all, NOTHING))
  const list = gzipSync(tar([manifest(change.listed ? [all[0] as Entry, ...change.listed] : all, 2, change.end), ...(change.more ?? [])]))
  return Buffer.concat([content, list, trailer("gzip", change.manifestAt ?? content.length)])
}
