import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { ImportResult } from "@/lib/contracts/transfer"
import { postFile } from "../api"

/** The browser downloads it itself: a session's files may be larger than a page should hold. */
export const exportPath = (sessionId: string) => `/api/v1/sessions/${sessionId}/export`

export function useImportSession() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ file, agent }: { file: File; agent: string | null }) =>
      postFile<ImportResult>(`/api/v1/sessions/import${agent ? `?agent=${encodeURIComponent(agent)}` : ""}`, file, "application/x-tar"),
    onSuccess: () => client.invalidateQueries({ queryKey: ["tasks"] }),
  })
}
