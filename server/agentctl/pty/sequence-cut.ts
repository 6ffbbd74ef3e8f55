const ESC = 0x1b
const BEL = 0x07
/** Longer than this a sequence is passed on in pieces: holding back an image would hold back the screen. */
const LONGEST_HELD = 4096

/**
 * How many of these bytes can be drawn without stopping inside an escape sequence or a character. A screen drawn up to such a place
 * can be followed by the raw bytes after it; from inside a sequence its rest would be shown as text.
 */
export function drawableLength(bytes: Buffer): number {
  const sequence = bytes.lastIndexOf(ESC)
  if (sequence >= 0 && bytes.length - sequence <= LONGEST_HELD) {
    // The end of a string is a sequence of its own, which belongs to the string.
    const opened = stringBefore(bytes, sequence)
    if (!isComplete(bytes, sequence)) return opened >= 0 && bytes.length - opened <= LONGEST_HELD ? opened : sequence
  }
  return bytes.length - unfinishedCharacter(bytes)
}

function isComplete(bytes: Buffer, at: number): boolean {
  const kind = bytes[at + 1]
  if (kind === undefined) return false
  if (kind === 0x5b) return hasFinal(bytes, at + 2, 0x40)
  if (isString(kind)) return bytes.indexOf(BEL, at + 2) >= 0
  // Intermediate bytes, as in a choice of character set, are followed by one more.
  return kind < 0x20 || kind > 0x2f || hasFinal(bytes, at + 2, 0x30)
}

function hasFinal(bytes: Buffer, from: number, lowest: number): boolean {
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i] as number
    // Anything that has no place in a sequence ends it, too.
    if (byte >= lowest || byte === 0x18 || byte === 0x1a) return true
  }
  return false
}

/** The string that is still open just before `at`, or -1. */
function stringBefore(bytes: Buffer, at: number): number {
  const previous = at > 0 ? bytes.lastIndexOf(ESC, at - 1) : -1
  const kind = previous >= 0 ? bytes[previous + 1] : undefined
  if (kind === undefined || !isString(kind)) return -1
  const bell = bytes.indexOf(BEL, previous + 2)
  return bell >= 0 && bell < at ? -1 : previous
}

/** DCS, SOS, OSC, PM, APC. */
const isString = (kind: number): boolean => kind === 0x50 || kind === 0x58 || kind === 0x5d || kind === 0x5e || kind === 0x5f

function unfinishedCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return byte < 0xf8 && length > back ? back : 0
  }
  return 0
}
