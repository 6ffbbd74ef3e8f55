import { useMutation, useQueryClient } from "@tanstack/react-query"
import { call, pathOf } from "../api"

/** The browser downloads it itself: a session's files may be larger than a page should hold. */
export const exportPath = (sessionId: string) => pathOf("GET /api/v1/sessions/{sessionId}/export", { params: { sessionId } })

export function useImportSession() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ file, agent }: { file: File; agent: string | null }) =>
      call("POST /api/v1/sessions/import", {
        query: { agent: agent ?? undefined },
        file: file.slice(0, file.size, "application/x-tar"),
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["tasks"] }),
  })
}
