import type { PictureType } from "../../lib/contracts/attachments"

const ascii = (bytes: Uint8Array, from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to))

/** By its first bytes: what a client says of it may be a mistake, or meant to be shown as something it is not. */
export function pictureType(bytes: Uint8Array): PictureType | null {
  if (ascii(bytes, 0, 8) === "\x89PNG\r\n\x1a\n") return "image/png"
  if (ascii(bytes, 0, 3) === "\xff\xd8\xff") return "image/jpeg"
  if (ascii(bytes, 0, 6) === "GIF87a" || ascii(bytes, 0, 6) === "GIF89a") return "image/gif"
  if (ascii(bytes, 0, 4) === "RIFF" && ascii(bytes, 8, 12) === "WEBP") return "image/webp"
  return null
}

const UNKNOWN = "application/octet-stream"

/** A claim to be one of the pictures that are shown counts for nothing; of files it is passed on to the agent. */
export function mimeType(bytes: Uint8Array, claimed: string | null): string {
  const picture = pictureType(bytes)
  if (picture) return picture
  const type = claimed?.split(";")[0]?.trim().toLowerCase() ?? ""
  if (!/^[a-z0-9][a-z0-9!#$&^_.+-]{0,60}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,60}$/.test(type)) return UNKNOWN
  return /^image\/(png|jpeg|gif|webp)$/.test(type) ? UNKNOWN : type
}

/** One line, nothing invisible, no folders: it is shown to people and agents, and becomes a file's name. */
export function fileName(given: string): string {
  const last = given.split(/[/\\]/).at(-1) ?? ""
  const name = [...last.replace(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ").trim()]
  const short = name.length > 120 ? [...name.slice(0, 100), "…", ...name.slice(-19)] : name
  return short.join("") || "file"
}
