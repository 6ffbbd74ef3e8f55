import { createHash } from "node:crypto"
import { z } from "zod"
import type { PromptEntry } from "./prompt-ledger"

const PromptAccepted = z.object({ prompt_id: z.string(), run_id: z.string(), body_sha256: z.string() })

/** One line as found on disk; `n` is null when it is no record. */
export interface ScannedLine {
  n: number | null
  start: number
  end: number
  hasNul: boolean
  mayJump: boolean
  /** The agent it says has come up, or has ended. */
  agent: LastAgent | null
  /** The prompt it says an agent was given. */
  accepted: PromptEntry | null
  /** It stands for records that were lost on disk. */
  lost: boolean
}
export type LastAgent = { agent_execution_id: string; ended: boolean }

export interface Damage {
  start: number
  end: number
  /** Numbers of the records lost here, both inclusive; none when `to < from`. */
  from: number
  to: number
}

export interface SpoolRepair {
  head: number
  /** Where the last good line ends; what follows was never on disk completely, so nobody has seen it. */
  goodEnd: number
  damages: Damage[]
}

/** Ends the reason of every record that stands for lost ones, by which they are known again. */
export const ON_DISK = "on disk"

export function readLine(bytes: Buffer): Pick<ScannedLine, "n" | "hasNul" | "mayJump" | "agent" | "accepted" | "lost"> {
  const hasNul = bytes.includes(0)
  const unreadable = { n: null, hasNul, mayJump: false, agent: null, accepted: null, lost: false }
  if (hasNul || bytes[0] !== 0x7b) return unreadable
  try {
    const value = JSON.parse(bytes.toString("utf8")) as { n?: unknown; kind?: unknown; reason?: unknown; agent_execution_id?: unknown }
    const valid = Number.isSafeInteger(value.n) && (value.n as number) > 0 && typeof value.kind === "string"
    const ended = value.kind === "agent.exited"
    const agent = ended || value.kind === "agent.started" ? { agent_execution_id: String(value.agent_execution_id), ended } : null
    const accepted = value.kind === "prompt.accepted" ? (PromptAccepted.safeParse(value).data ?? null) : null
    const mayJump = value.kind === "record.rejected"
    const lost = mayJump && String(value.reason).endsWith(ON_DISK)
    return { n: valid ? (value.n as number) : null, hasNul, mayJump, agent, accepted, lost }
  } catch {
    return unreadable
  }
}

/** More missing records than this at one place is a misread number, not damage. */
const MAX_HOLE = 10_000

/**
 * Decides what a spool still holds. A number already streamed must never be given to another record, so complete but
 * unreadable lines keep theirs; only a tail that cannot have been synced (unterminated, or holding NULs) is taken back.
 */
export function planRepair(lines: ScannedLine[], first: number, start: number): SpoolRepair {
  let expected = first
  let damageStart: number | null = null
  let goodEnd = start
  const damages: Damage[] = []
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as ScannedLine
    if (!accepts(line, lines[i + 1], expected, damageStart !== null)) {
      damageStart ??= line.start
      continue
    }
    const n = line.n as number
    const jumped = line.mayJump && damageStart === null
    if (damageStart !== null || (n > expected && !jumped)) {
      damages.push({ start: damageStart ?? line.start, end: line.start, from: expected, to: n - 1 })
    }
    damageStart = null
    expected = n + 1
    goodEnd = line.end
  }
  if (damageStart !== null) {
    for (const line of lines.filter((l) => l.start >= (damageStart as number))) {
      if (line.hasNul) break
      damages.push({ start: line.start, end: line.end, from: expected, to: expected })
      expected += 1
      goodEnd = line.end
    }
  }
  return { head: expected - 1, goodEnd, damages }
}

function accepts(line: ScannedLine, next: ScannedLine | undefined, expected: number, afterDamage: boolean): boolean {
  if (line.n === null || line.n < expected) return false
  if (line.n === expected || line.mayJump) return true
  if (line.n - expected > MAX_HOLE) return false
  // A flipped digit would otherwise make every later record look like a repetition.
  return next === undefined || next.n === null ? afterDamage : next.n === line.n + 1
}

export const sha256 = (bytes: Buffer | string): string => createHash("sha256").update(bytes).digest("hex")
