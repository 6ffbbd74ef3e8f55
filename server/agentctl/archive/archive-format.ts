import { isUtf8 } from "node:buffer"
import { z } from "zod"
import { LeftOut } from "../../../lib/contracts/agentctl/archive"

/**
 * What an archive is: a tar of `rewake.json` first, `.claude_session_id`, `workspace/…`, `agent/…`, `git/…`, and `manifest.jsonl`
 * last, compressed with zstd or gzip. A reader refuses a format it does not know; nothing else may be in it.
 */
export const FORMAT = 1

export const HEAD_ENTRY = "rewake.json"
export const MANIFEST_ENTRY = "manifest.jsonl"

/** More entries than this are refused both ways: each costs an inode, however small the archive. */
export const MAX_ENTRIES = 1_000_000
/** Links are made last and held in memory until then. */
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

export const ManifestFile = z.object({
  p: Name,
  size: z.number().int().min(0),
  mode: z.number().int().min(0).max(0o777),
  sha256: z.string(),
  /** Microseconds since 1970. */
  mtime: z.number(),
})
export const ManifestLink = z.object({ p: Name, link: Name })
export const ManifestFolder = z.object({ p: Name, folder: z.literal(true) })
export const ManifestLine = z.union([ManifestFile, ManifestLink, ManifestFolder])
export type ManifestLine = z.infer<typeof ManifestLine>

export const ManifestHead = z.object({ format: z.literal(FORMAT), created_at: z.string() })
export const ManifestEnd = z.object({
  end: z.literal(true),
  entries: z.number().int(),
  files: z.number().int(),
  bytes: z.number().int(),
  left_out: z.array(LeftOut),
  left_out_total: z.number().int(),
})

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

/** For messages and lists: never raw bytes, never a line break. */
export const showName = (name: Buffer): string => JSON.stringify(name.toString("utf8")).slice(1, -1)
