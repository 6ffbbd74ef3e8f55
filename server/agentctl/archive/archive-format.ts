import { isUtf8 } from "node:buffer"
import { z } from "zod"
import { LEFT_OUT_NAMED, LEFT_OUT_PATH_CHARS, LEFT_OUT_REASONS, LeftOut, LeftOutReason } from "../../../lib/contracts/left-out"

/**
 * What an archive is: a tar of `rewake.json` first, `.claude_session_id`, `changes.json`, `terminals/…`, `workspace/…`, `agent/…`,
 * `git/…`, and `manifest.jsonl` last, compressed with zstd or gzip. Format 2 is written, 1 and 2 are read; a reader refuses any other,
 * and nothing else may be in it.
 */
export const FORMAT = 2
export type Format = 1 | 2

export const HEAD_ENTRY = "rewake.json"
export const CHANGES_ENTRY = "changes.json"
export const MANIFEST_ENTRY = "manifest.jsonl"

/** More entries than this are refused both ways: each costs an inode, however small the archive. */
export const MAX_ENTRIES = 1_000_000
/** Links and empty folders are made last and held in memory until then. */
export const MAX_LINKS = 200_000

/** Totals as counted before packing, for progress; the manifest has what was really packed. */
export const ArchiveHead = z.object({
  format: z.number().int(),
  created_at: z.string(),
  workspace_kind: z.enum(["folder", "worktree"]),
  files: z.number().int(),
  bytes: z.number().int(),
})
export type ArchiveHead = z.infer<typeof ArchiveHead>

/** Names are bytes; JSON holds text. A name that is not UTF-8 travels as base64. */
const Name = z.union([z.string(), z.object({ b64: z.string() })])
const Mode = z.number().int().min(0).max(0o777)
const amount = z.number().int().min(0)
const file = {
  p: Name,
  size: amount,
  mode: Mode,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Microseconds since 1970. */ mtime: z.number(),
}
/**
 * Against the index of the repository the file is in: whoever restores a part knows what git has as well. A file whose time was
 * changed and nothing else may count as modified. Absent outside of repositories, and for what is none of the workspace's files.
 */
export const GitFileState = z.enum(["unchanged", "modified", "untracked"])
export type GitFileState = z.infer<typeof GitFileState>
const inGit = { git: GitFileState.optional() }

const LINES = {
  1: z.union([z.strictObject(file), z.strictObject({ p: Name, link: Name }), z.strictObject({ p: Name, folder: z.literal(true) })]),
  /** A folder is one that was empty; the others follow from what is in them. */
  2: z.union([
    z.strictObject({ ...file, ...inGit }),
    z.strictObject({ p: Name, link: Name, mtime: z.number(), ...inGit }),
    z.strictObject({ p: Name, folder: z.literal(true), mode: Mode, mtime: z.number() }),
  ]),
} as const
export type ManifestLine = z.infer<(typeof LINES)[2]> | z.infer<(typeof LINES)[1]>
export const parseLine = (format: Format, text: string): ManifestLine | null => LINES[format].safeParse(parseJson(text)).data ?? null

const ManifestHead = z.strictObject({ format: z.union([z.literal(1), z.literal(2)]), created_at: z.string() })
/** The first line; null unless it is one of that format. */
export function parseManifestHead(format: Format, text: string): { created_at: string } | null {
  const head = ManifestHead.safeParse(parseJson(text)).data
  return head?.format === format ? head : null
}

const counts = { end: z.literal(true), entries: amount, files: amount, bytes: amount }
const LeftOutByName = z.object({
  path: z.string(),
  reason: LeftOutReason.extract([
    ...(["special_file", "outward_link", "vanished", "unreadable", "credentials", "git_state", "agent_command"] as const),
  ]),
})
const ENDS = {
  /** Each by its name up to 100 of them, the others only in the total. */
  1: z.strictObject({ ...counts, left_out: z.array(LeftOutByName).max(100), left_out_total: amount }),
  2: z.strictObject({ ...counts, left_out: LeftOut }),
} as const
export interface ManifestEnd {
  entries: number
  files: number
  bytes: number
  left_out: LeftOut
}
export function parseEnd(format: Format, text: string): ManifestEnd | null {
  if (format === 2) return ENDS[2].safeParse(parseJson(text)).data ?? null
  const end = ENDS[1].safeParse(parseJson(text)).data
  if (!end) return null
  const { left_out, left_out_total, ...amounts } = end
  return { ...amounts, left_out: groupByReason(left_out, left_out_total - left_out.length) }
}

function groupByReason(named: readonly z.infer<typeof LeftOutByName>[], unnamed: number): LeftOut {
  const groups = LEFT_OUT_REASONS.flatMap((reason) => {
    const names = named.filter((missing) => missing.reason === reason)
    const shown = names.slice(0, LEFT_OUT_NAMED).map(({ path }) => ({ path: shortenPath(path), files: null }))
    return names.length > 0 ? [{ reason, count: names.length, bytes: null, names: shown }] : []
  })
  return unnamed > 0 ? [...groups, { reason: "other", count: unnamed, bytes: null, names: [] }] : groups
}

/** One repository inside the workspace: the workspace itself (path ""), or one cloned into it. */
export const GitState = z.object({
  path: Name,
  object_format: z.enum(["sha1", "sha256"]),
  /** `ref` null: detached. `oid` null: a branch without a commit. */
  head: z.object({ ref: z.string().nullable(), oid: z.string().nullable() }),
  refs: z.array(z.object({ name: z.string(), oid: z.string() })),
  /** Oldest first. */
  stash: z.array(z.object({ oid: z.string(), message: z.string() })),
  /** MERGE_HEAD and its like. */
  pseudo: z.array(z.object({ name: z.enum(["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"]), content: z.string() })),
  message: z.string().nullable(),
  has_pack: z.boolean(),
})
export type GitState = z.infer<typeof GitState>

export const encodeName = (name: Buffer): z.infer<typeof Name> => (isUtf8(name) ? name.toString("utf8") : { b64: name.toString("base64") })
export const decodeName = (name: z.infer<typeof Name>): Buffer =>
  typeof name === "string" ? Buffer.from(name, "utf8") : Buffer.from(name.b64, "base64")

/** For messages and lists: never raw bytes, never a line break, and nothing that would turn round the text after it. */
export const showName = (name: Buffer): string =>
  JSON.stringify(name.toString("utf8"))
    .slice(1, -1)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `\\u${c.codePointAt(0)?.toString(16).padStart(4, "0")}`)

/** The end of a path tells more than its middle. */
export function shortenPath(path: string): string {
  if (path.length <= LEFT_OUT_PATH_CHARS) return path
  const half = Math.floor((LEFT_OUT_PATH_CHARS - 1) / 2)
  // Without halves of a character, which not every database takes.
  return `${path.slice(0, half).replace(/[\ud800-\udbff]$/, "")}…${path.slice(-half).replace(/^[\udc00-\udfff]/, "")}`
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
