import { readlinkSync } from "node:fs"

const MOST_HOPS = 40

/**
 * Whether following this link could ever lead out of `root`, also by way of other links and through names that do not exist yet.
 * Looking at the text alone would be deceived by a link to a folder followed by `..`.
 */
export function leavesRoot(root: Buffer, name: Buffer, target: Buffer, home: Buffer = root): boolean {
  const pending = split(name)
  pending.pop()
  const at: Buffer[] = []
  let hops = 0
  // The link's own folder is made of real folders: whatever lists or unpacks names has seen to that.
  at.push(...pending)
  let rest = follow(at, target, home)
  if (rest === null) return true
  while (rest.length > 0) {
    const part = rest.shift() as Buffer
    if (part.equals(DOT)) continue
    if (part.equals(DOTS)) {
      if (at.length === 0) return true
      at.pop()
      continue
    }
    at.push(part)
    const next = linkAt(root, at)
    if (next === null) continue
    if (++hops > MOST_HOPS) return true
    at.pop()
    const more = follow(at, next, home)
    if (more === null) return true
    rest = [...more, ...rest]
  }
  return false
}

const DOT = Buffer.from(".")
const DOTS = Buffer.from("..")
const SLASH = 0x2f

/** The parts still to walk; `at` is emptied when the target starts from the root. Null: it starts somewhere else. */
function follow(at: Buffer[], target: Buffer, home: Buffer): Buffer[] | null {
  if (target[0] !== SLASH) return split(target)
  const inside = target.subarray(0, home.length).equals(home) && (target.length === home.length || target[home.length] === SLASH)
  if (!inside) return null
  at.length = 0
  return split(target.subarray(home.length))
}

function linkAt(root: Buffer, at: Buffer[]): Buffer | null {
  try {
    return readlinkSync(joinBytes(root, ...at), { encoding: "buffer" })
  } catch {
    return null
  }
}

export function split(path: Buffer): Buffer[] {
  const parts: Buffer[] = []
  let from = 0
  for (let to = path.indexOf(SLASH); ; to = path.indexOf(SLASH, from)) {
    const part = path.subarray(from, to === -1 ? path.length : to)
    if (part.length > 0) parts.push(part)
    if (to === -1) return parts
    from = to + 1
  }
}

const SEPARATOR = Buffer.from("/")

export function joinBytes(...parts: Buffer[]): Buffer {
  const pieces: Buffer[] = []
  for (const part of parts) {
    if (part.length === 0) continue
    if (pieces.length > 0) pieces.push(SEPARATOR)
    pieces.push(part)
  }
  return Buffer.concat(pieces)
}
