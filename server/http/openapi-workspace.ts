import { z } from "zod"
import {
  Changes,
  CommentsSent,
  CommentView,
  CreateComment,
  DiffQuery,
  FileDiff,
  FileQuery,
  FileWritten,
  FolderListing,
  FolderQuery,
  PatchComment,
  SendComments,
} from "../../lib/contracts/workspace"
import type { Call } from "./openapi"

/** Files, changes and comments. */
export const workspaceCalls: Call[] = [
  {
    method: "get",
    path: "/sessions/{sessionId}/files",
    summary: "One folder of the workspace",
    query: FolderQuery,
    status: 200,
    answer: FolderListing,
  },
  {
    method: "get",
    path: "/sessions/{sessionId}/file",
    summary: "One file as it is, or a range of it; download=1 to save it",
    query: FileQuery,
    status: 200,
  },
  {
    method: "get",
    path: "/sessions/{sessionId}/rejected/{sha256}",
    summary: "What the agent said that was too large for the log, as it came",
    status: 200,
  },
  {
    method: "put",
    path: "/sessions/{sessionId}/file",
    summary: "Write a file (its bytes as body); If-Match or If-None-Match guard what is there",
    query: FileQuery,
    status: 200,
    answer: FileWritten,
  },
  {
    method: "get",
    path: "/sessions/{sessionId}/diff",
    summary: "What changed, in short; with path and of, the change of one file",
    query: DiffQuery,
    status: 200,
    answer: z.union([Changes, FileDiff]),
  },
  {
    method: "get",
    path: "/sessions/{sessionId}/comments",
    summary: "Comments on changed lines",
    status: 200,
    answer: z.object({ items: z.array(CommentView) }),
  },
  {
    method: "post",
    path: "/sessions/{sessionId}/comments",
    summary: "Keep a comment as a draft",
    body: CreateComment,
    status: 201,
    answer: CommentView,
  },
  {
    method: "patch",
    path: "/sessions/{sessionId}/comments/{commentId}",
    summary: "Reword a draft",
    body: PatchComment,
    status: 200,
    answer: CommentView,
  },
  { method: "delete", path: "/sessions/{sessionId}/comments/{commentId}", summary: "Remove a comment", status: 204 },
  {
    method: "post",
    path: "/sessions/{sessionId}/comments/send",
    summary: "Send all drafts to the agent as one message",
    body: SendComments,
    status: 202,
    answer: CommentsSent,
  },
]
