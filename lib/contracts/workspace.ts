import { z } from "zod"
import { ClientMessageId } from "./task"

/** The workspace as the daemon sees it and the browser shows it: files, changes, and comments beside a changed line. */

/** A larger upload is refused; the agent has better ways to fetch it. */
export const MAX_UPLOAD_BYTES = 100 * 1024 * 1024
/** A folder is listed up to here; `total` says how many there are. */
export const MAX_FOLDER_ENTRIES = 2000
/** The diff of one file is sent whole up to here; beyond, only its size is. */
export const MAX_DIFF_BYTES = 2 * 1024 * 1024

export const FileEntry = z.object({
  name: z.string(),
  kind: z.enum(["file", "folder", "link", "other"]),
  bytes: z.number().int(),
  modified_at: z.string(),
  /** Where a link leads. `path` is given for a target inside the workspace, and only there; it can be asked for by that path. */
  link: z
    .object({ leads: z.enum(["inside", "outside", "nowhere"]), path: z.string().nullable(), kind: z.enum(["file", "folder"]).nullable() })
    .nullable(),
  /** False for a name that is not UTF-8 text: it is shown, but cannot be asked for. */
  addressable: z.boolean(),
})
export type FileEntry = z.infer<typeof FileEntry>

/** GET …/files?path=: one folder, folders first, by name. Git's own folder is left out. */
export const FolderListing = z.object({
  path: z.string(),
  entries: z.array(FileEntry),
  total: z.number().int(),
  truncated: z.boolean(),
})
export type FolderListing = z.infer<typeof FolderListing>

/** PUT …/file?path= */
export const FileWritten = z.object({ path: z.string(), bytes: z.number().int(), etag: z.string(), created: z.boolean() })
export type FileWritten = z.infer<typeof FileWritten>

export const ChangeStatus = z.enum(["added", "modified", "deleted", "renamed", "copied", "type_changed", "conflicted"])
export type ChangeStatus = z.infer<typeof ChangeStatus>

export const ChangedFile = z.object({
  path: z.string(),
  /** Where it was before it was renamed or copied. */
  old_path: z.string().nullable(),
  status: ChangeStatus,
  /** Null for a binary file, and for one too large to be counted. */
  added: z.number().int().nullable(),
  removed: z.number().int().nullable(),
  binary: z.boolean(),
  old_bytes: z.number().int().nullable(),
  new_bytes: z.number().int().nullable(),
  /** Another one means another diff: what a page has under the same version is still right. */
  version: z.string(),
})
export type ChangedFile = z.infer<typeof ChangedFile>

export const TaskCommit = z.object({
  id: z.string(),
  subject: z.string(),
  author: z.string(),
  at: z.string(),
  files: z.array(ChangedFile),
})
export type TaskCommit = z.infer<typeof TaskCommit>

/** GET …/diff: everything that differs from where the task began. */
export const Changes = z.object({
  branch: z.string().nullable(),
  head: z.string().nullable(),
  conflicts: z.array(ChangedFile),
  staged: z.array(ChangedFile),
  unstaged: z.array(ChangedFile),
  untracked: z.array(ChangedFile),
  /** Newest first. */
  commits: z.array(TaskCommit),
  /** More changed than is listed. */
  truncated: z.boolean(),
})
export type Changes = z.infer<typeof Changes>

/** Which change of a file: against the index, the last commit, nothing at all, or that of one commit. */
export const DiffOf = z.union([z.enum(["staged", "unstaged", "untracked"]), z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/)])
export type DiffOf = z.infer<typeof DiffOf>

/** GET …/diff?path=&of=: unified text of one file; `diff` is null where it is too large, and `bytes` says how large. */
export const FileDiff = z.object({
  path: z.string(),
  of: z.string(),
  diff: z.string().nullable(),
  bytes: z.number().int(),
  limit_bytes: z.number().int(),
})
export type FileDiff = z.infer<typeof FileDiff>

export const FilePath = z.string().max(4096)
export const FileQuery = z.object({ path: FilePath.min(1), download: z.enum(["1"]).optional() })
export const FolderQuery = z.object({ path: FilePath.default("") })
/** Nothing: the summary. A path and which of its changes: that one. */
export const DiffQuery = z
  .object({ path: FilePath.min(1).optional(), of: DiffOf.optional(), old_path: FilePath.optional() })
  .refine(({ path, of }) => (path === undefined) === (of === undefined), "path and of come together")

/** What a database can keep as text: no NUL, no half of a character. */
const storable = (text: string) => text.replace(/[\0\p{Cs}]/gu, "�")
const LINE_TEXT_KEPT = 2000

export const CommentSide = z.enum(["old", "new"])
export type CommentSide = z.infer<typeof CommentSide>

const CommentText = z.string().trim().min(1, "must not be empty").max(10_000).transform(storable)
export const CreateComment = z.object({
  path: FilePath.min(1).transform(storable),
  side: CommentSide,
  line: z.number().int().min(1).max(2_147_483_647),
  line_text: z.string().transform((text) => storable(text.slice(0, LINE_TEXT_KEPT))),
  content: CommentText,
})
export type CreateComment = z.infer<typeof CreateComment>
export const PatchComment = z.object({ content: CommentText })

export const CommentView = z.object({
  id: z.string(),
  path: z.string(),
  side: CommentSide,
  line: z.number().int(),
  line_text: z.string(),
  content: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  /** The message that took it to the agent; null while it is a draft, and again when that message was withdrawn. */
  prompt_id: z.string().nullable(),
})
export type CommentView = z.infer<typeof CommentView>

export const SendComments = z.object({ client_message_id: ClientMessageId })
export const CommentsSent = z.object({ prompt_id: z.string(), sent: z.number().int() })
export type CommentsSent = z.infer<typeof CommentsSent>
