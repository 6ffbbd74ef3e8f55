import { z } from "zod"
import { LeftOut } from "../left-out"
import { Changes, FileDiff } from "../workspace"
import { AgentFile, CarriedConversation } from "./agent-file"
import { DAEMON_ERRORS, GitCredential, WorkspaceSpec } from "./protocol"

/**
 * Workspace archives between server and agentctl. Every PUT begins the work or finds it begun or done, and answers its state
 * at once; after a kill of either side the same PUT is simply sent again.
 */

export { AgentFile, CarriedConversation }

export const ArchiveFailure = z.object({ code: z.enum(DAEMON_ERRORS), message: z.string() })
export type ArchiveFailure = z.infer<typeof ArchiveFailure>

/**
 * The changes of a workspace as they were when it was archived: `changes.json` of an archive. Files are listed up to a limit, as for
 * pages; the text of a change is there where it was short enough, for the first of them.
 */
export const RECORDED_CHANGES_MAX_BYTES = 8 * 1024 * 1024
export const RecordedChanges = z.strictObject({ changes: Changes, diffs: z.array(FileDiff) })
export type RecordedChanges = z.infer<typeof RecordedChanges>

/** Null from a daemon of an earlier version: it does not tell, or in a shape that is not read. */
const LeftOutIfTold = LeftOut.nullable().catch(null)

const amount = z.number().int().min(0)

/**
 * PUT /sessions/{id}/archive/{archive_id}. Refused while an agent is up, and for a generation lower than the daemon has seen.
 * `max_bytes` limits the content, not the compressed archive. With `folder` the archive appears there under its final name only
 * when it is complete and on disk; without, it waits in the daemon's staging folder to be uploaded.
 */
export const PutArchive = z.object({
  generation: z.number().int(),
  agent_session_id: z.string().nullable(),
  agent_files: z.array(AgentFile),
  agent_exports: z.array(CarriedConversation).default([]),
  max_bytes: z.number().int().positive(),
  folder: z.string().startsWith("/").nullable(),
})
export type PutArchive = z.infer<typeof PutArchive>

/** GET of the same, and the answer to PUT. `bytes` and `files` count content so far; once packed, `archive_bytes` is the file's size. */
export const ArchiveState = z.object({
  state: z.enum(["packing", "packed", "failed"]),
  bytes: amount,
  files: amount,
  total_bytes: amount,
  total_files: amount,
  archive_bytes: amount.nullable(),
  sha256: z.string().nullable(),
  /** Where the file lies on the daemon's host. */
  path: z.string().nullable(),
  compression: z.enum(["zstd", "gzip"]).nullable(),
  left_out: LeftOutIfTold,
  error: ArchiveFailure.nullable(),
})
export type ArchiveState = z.infer<typeof ArchiveState>

/** PUT …/archive/{archive_id}/parts. URL_EXPIRED carries the parts that were done as `parts`; the rest is asked for again with new URLs. */
export const PutParts = z.object({
  parts: z.array(z.object({ n: z.number().int().positive(), offset: amount, length: z.number().int().positive(), url: z.url() })).min(1),
})
export type PutParts = z.infer<typeof PutParts>
export const UploadedPart = z.object({ n: z.number().int(), etag: z.string() })
export type UploadedPart = z.infer<typeof UploadedPart>
export const PutPartsAnswer = z.object({ parts: z.array(UploadedPart) })

/** DELETE …/archive/{archive_id}: stops packing and removes the staging file; an archive in a folder stays. */
export const DropArchiveAnswer = z.object({ dropped: z.boolean() })

/**
 * PUT /sessions/{id}/restore/{archive_id}. Never over a living workspace: WORKSPACE_EXISTS when the path holds anything this
 * very restore did not put there. `sha256` and `bytes` are those of the archive file.
 */
export const PutRestore = z.object({
  generation: z.number().int(),
  workspace: WorkspaceSpec,
  source: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("folder"), path: z.string().startsWith("/") }),
    z.object({ kind: z.literal("url"), url: z.url() }),
  ]),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().positive(),
  agent_files: z.array(AgentFile),
  /** Run in the workspace once it is back; what fails is among the notes. */
  agent_imports: z.array(CarriedConversation).default([]),
  max_bytes: z.number().int().positive(),
  git_credential: GitCredential.optional(),
})
export type PutRestore = z.infer<typeof PutRestore>

/**
 * GET of the same, and the answer to PUT. While downloading, `bytes` and `total_bytes` count the archive file; afterwards the
 * content. `needs_url`: the URL ran out; the same PUT with a new one goes on where it stopped.
 */
export const RestoreState = z.object({
  state: z.enum(["downloading", "unpacking", "verifying", "restored", "needs_url", "failed"]),
  bytes: amount,
  total_bytes: amount,
  files: amount,
  total_files: amount,
  agent_session_id: z.string().nullable(),
  /** What came back differently than it was, in words for a person. */
  notes: z.array(z.string()),
  /** Of the archive, as its manifest says. */
  left_out: LeftOutIfTold,
  error: ArchiveFailure.nullable(),
})
export type RestoreState = z.infer<typeof RestoreState>
