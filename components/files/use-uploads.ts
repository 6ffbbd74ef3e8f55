import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { errorSentence } from "@/lib/client/error-sentence"
import { type UploadCondition, uploadFile } from "@/lib/client/workspace-file"
import { type ErrorDetails, isAppError } from "@/lib/contracts/errors"

export type Upload = {
  id: number
  path: string
  file: File
  /** `exists`: there is such a file, and somebody has to say whether it is replaced. */
  state: { kind: "sending"; percent: number } | { kind: "done" } | { kind: "exists"; etag: string } | { kind: "failed"; words: string }
}

let nextId = 1
/** A finished one is shown this long. */
const DONE_SHOWN_MS = 3000

export function useUploads(sessionId: string) {
  const client = useQueryClient()
  const [uploads, setUploads] = useState<readonly Upload[]>([])
  const change = (id: number, state: Upload["state"]) =>
    setUploads((all) => all.map((upload) => (upload.id === id ? { ...upload, state } : upload)))
  const dismiss = (id: number) => setUploads((all) => all.filter((upload) => upload.id !== id))

  async function send(upload: Upload, condition: UploadCondition): Promise<void> {
    change(upload.id, { kind: "sending", percent: 0 })
    try {
      await uploadFile(sessionId, upload.path, upload.file, condition, (percent) => change(upload.id, { kind: "sending", percent }))
      change(upload.id, { kind: "done" })
      setTimeout(() => dismiss(upload.id), DONE_SHOWN_MS)
      void client.invalidateQueries({ queryKey: ["workspace", sessionId] })
    } catch (error) {
      const details = isAppError(error) && error.code === "FILE_CONFLICT" ? (error.details as ErrorDetails["FILE_CONFLICT"]) : null
      // Also when it changed after it was asked about: then it is asked again, about what is there now.
      if (details?.etag) change(upload.id, { kind: "exists", etag: details.etag })
      else if (details) void send(upload, { absent: true })
      else change(upload.id, { kind: "failed", words: errorSentence(error) })
    }
  }

  return {
    uploads,
    dismiss,
    add(folder: string, files: readonly File[]) {
      const added = files.map((file): Upload => {
        const path = folder === "" ? file.name : `${folder}/${file.name}`
        return { id: nextId++, path, file, state: { kind: "sending", percent: 0 } }
      })
      // A row that said how the last upload of the same file went would contradict the one that is under way.
      const again = (old: Upload) => old.state.kind !== "sending" && added.some(({ path }) => path === old.path)
      setUploads((all) => [...all.filter((old) => !again(old)), ...added])
      for (const upload of added) void send(upload, { absent: true })
    },
    replace(upload: Upload) {
      if (upload.state.kind === "exists") void send(upload, { etag: upload.state.etag })
    },
  }
}
