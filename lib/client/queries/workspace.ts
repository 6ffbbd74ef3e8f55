import { keepPreviousData, type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect } from "react"
import { isAppError } from "@/lib/contracts/errors"
import type { Changes, CommentsSent, CommentView, CreateComment, FileDiff, FolderListing } from "@/lib/contracts/workspace"
import { deleteJson, getJson, patchJson, postJson } from "../api"
import { watchWorkspace } from "../socket"

const path = (sessionId: string, call: string, query: Record<string, string | null> = {}) => {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== null)
  return `/api/v1/sessions/${sessionId}/${call}${given.length > 0 ? `?${new URLSearchParams(given)}` : ""}`
}
export const filePath = (sessionId: string, file: string, download = false) =>
  path(sessionId, "file", { path: file, download: download ? "1" : null })

/** An executor that is coming up answers in a moment; what is refused stays refused. */
const retry = (failures: number, error: Error) => (!isAppError(error) || error.code === "NOT_READY") && failures < 4

export const changesQuery = (sessionId: string) =>
  queryOptions({ queryKey: ["workspace", sessionId, "changes"], queryFn: () => getJson<Changes>(path(sessionId, "diff")), retry })
export const useChanges = (sessionId: string, enabled: boolean) => useQuery({ ...changesQuery(sessionId), enabled })

type WhichDiff = { path: string; of: string; old_path: string | null; version: string }
/** The version is part of the key: a diff that is here under it is never asked for again. */
export const fileDiffQuery = (sessionId: string, { version, ...which }: WhichDiff) =>
  queryOptions({
    queryKey: ["file-diff", sessionId, which.of, which.path, which.old_path, version],
    queryFn: () => getJson<FileDiff>(path(sessionId, "diff", which)),
    staleTime: Number.POSITIVE_INFINITY,
    retry,
  })

export const folderQuery = (sessionId: string, folder: string) =>
  queryOptions({
    queryKey: ["workspace", sessionId, "folder", folder],
    queryFn: () => getJson<FolderListing>(path(sessionId, "files", { path: folder })),
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
    queryFn: () => getJson<{ items: CommentView[] }>(path(sessionId, "comments")).then(({ items }) => items),
  })

export function useCommentActions(sessionId: string) {
  const client = useQueryClient()
  const onSettled = () => client.invalidateQueries(commentsQuery(sessionId))
  const create = useMutation({
    mutationFn: (comment: CreateComment) => postJson<CommentView>(path(sessionId, "comments"), comment),
    onSuccess: (comment) =>
      client.setQueryData(commentsQuery(sessionId).queryKey, (known) => [...(known ?? []).filter(({ id }) => id !== comment.id), comment]),
    onSettled,
  })
  const change = useMutation({
    mutationFn: ({ id, content }: { id: string; content: string }) =>
      patchJson<CommentView>(path(sessionId, `comments/${id}`), { content }),
    onSuccess: (comment) =>
      client.setQueryData(commentsQuery(sessionId).queryKey, (known) => known?.map((one) => (one.id === comment.id ? comment : one))),
    onSettled,
  })
  const remove = useMutation({
    mutationFn: (id: string) => deleteJson(path(sessionId, `comments/${id}`)),
    onMutate: (id) => client.setQueryData(commentsQuery(sessionId).queryKey, (known) => known?.filter((one) => one.id !== id)),
    onSettled,
  })
  const send = useMutation({
    mutationFn: (client_message_id: string) => postJson<CommentsSent>(path(sessionId, "comments/send"), { client_message_id }),
    onSettled,
  })
  return { create, change, remove, send }
}
