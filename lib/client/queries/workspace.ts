import { keepPreviousData, type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect } from "react"
import { AppError, isAppError, isPassing } from "@/lib/contracts/errors"
import type { Changes, CreateComment, FileDiff } from "@/lib/contracts/workspace"
import { call, pathOf } from "../api"
import { watchWorkspace } from "../socket"

export const filePath = (sessionId: string, file: string, download = false) =>
  pathOf("GET /api/v1/sessions/{sessionId}/file", { params: { sessionId }, query: { path: file, download: download ? "1" : undefined } })

/** An executor that is coming up answers in a moment; what is refused stays refused. */
const retry = (failures: number, error: Error) => (!isAppError(error) || isPassing(error)) && failures < 4

/** One call answers both: the summary, and with a path the diff of one file. */
const unexpected = () => new AppError("INTERNAL", "The server answered something else.", {})
async function fetchChanges(sessionId: string): Promise<Changes> {
  const answer = await call("GET /api/v1/sessions/{sessionId}/diff", { params: { sessionId } })
  if ("diff" in answer) throw unexpected()
  return answer
}
async function fetchFileDiff(sessionId: string, query: { path: string; of: string; old_path: string | undefined }): Promise<FileDiff> {
  const answer = await call("GET /api/v1/sessions/{sessionId}/diff", { params: { sessionId }, query })
  if ("diff" in answer) return answer
  throw unexpected()
}

export const changesQuery = (sessionId: string) =>
  queryOptions({ queryKey: ["workspace", sessionId, "changes"], queryFn: () => fetchChanges(sessionId), retry })
export const useChanges = (sessionId: string, enabled: boolean) => useQuery({ ...changesQuery(sessionId), enabled })

type WhichDiff = { path: string; of: string; old_path: string | null; version: string }
/** The version is part of the key: a diff that is here under it is never asked for again. */
export const fileDiffQuery = (sessionId: string, { version, ...which }: WhichDiff) =>
  queryOptions({
    queryKey: ["file-diff", sessionId, which.of, which.path, which.old_path, version],
    queryFn: () => fetchFileDiff(sessionId, { ...which, old_path: which.old_path ?? undefined }),
    staleTime: Number.POSITIVE_INFINITY,
    retry,
  })

export const folderQuery = (sessionId: string, folder: string) =>
  queryOptions({
    queryKey: ["workspace", sessionId, "folder", folder],
    queryFn: () => call("GET /api/v1/sessions/{sessionId}/files", { params: { sessionId }, query: { path: folder } }),
    placeholderData: keepPreviousData,
    retry,
  })

/**
 * Fetches again whatever of the workspace is shown. A fetch that is under way when this is called is joined and then followed by
 * another: it may have read the workspace before the change.
 */
export function createWorkspaceRefresh(client: QueryClient, sessionId: string): () => Promise<void> {
  const queryKey = ["workspace", sessionId]
  const refetch = () => client.invalidateQueries({ queryKey }, { cancelRefetch: false })
  let asking = false
  let again = false
  return async () => {
    again = true
    if (asking) return
    asking = true
    while (again) {
      again = false
      const joins = client.isFetching({ queryKey }) > 0
      await refetch()
      if (joins) await refetch()
    }
    asking = false
  }
}

/** Keeps what is shown of the workspace as it is now. */
export function useWorkspaceSync(sessionId: string, enabled: boolean): void {
  const client = useQueryClient()
  useEffect(() => {
    if (!enabled) return
    const refresh = createWorkspaceRefresh(client, sessionId)
    return watchWorkspace(sessionId, () => void refresh())
  }, [client, sessionId, enabled])
}

export const commentsQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ["comments", sessionId],
    queryFn: () => call("GET /api/v1/sessions/{sessionId}/comments", { params: { sessionId } }).then(({ items }) => items),
  })

export function useCommentActions(sessionId: string) {
  const client = useQueryClient()
  const onSettled = () => client.invalidateQueries(commentsQuery(sessionId))
  const create = useMutation({
    mutationFn: (body: CreateComment) => call("POST /api/v1/sessions/{sessionId}/comments", { params: { sessionId }, body }),
    onSuccess: (comment) =>
      client.setQueryData(commentsQuery(sessionId).queryKey, (known) => [...(known ?? []).filter(({ id }) => id !== comment.id), comment]),
    onSettled,
  })
  const change = useMutation({
    mutationFn: ({ id, content }: { id: string; content: string }) =>
      call("PATCH /api/v1/sessions/{sessionId}/comments/{commentId}", { params: { sessionId, commentId: id }, body: { content } }),
    onSuccess: (comment) =>
      client.setQueryData(commentsQuery(sessionId).queryKey, (known) => known?.map((one) => (one.id === comment.id ? comment : one))),
    onSettled,
  })
  const remove = useMutation({
    mutationFn: (id: string) => call("DELETE /api/v1/sessions/{sessionId}/comments/{commentId}", { params: { sessionId, commentId: id } }),
    onMutate: (id) => client.setQueryData(commentsQuery(sessionId).queryKey, (known) => known?.filter((one) => one.id !== id)),
    onSettled,
  })
  const send = useMutation({
    mutationFn: (client_message_id: string) =>
      call("POST /api/v1/sessions/{sessionId}/comments/send", { params: { sessionId }, body: { client_message_id } }),
    onSettled,
  })
  return { create, change, remove, send }
}
