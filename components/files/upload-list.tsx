import { X } from "lucide-react"
import { Button, IconButton } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { Glyph } from "@/components/ui/glyph"
import { ProgressBar } from "@/components/ui/progress-bar"
import { formatBytes } from "@/lib/client/format"
import type { Upload, useUploads } from "./use-uploads"

export function UploadList({ uploads, dismiss, replace }: Pick<ReturnType<typeof useUploads>, "uploads" | "dismiss" | "replace">) {
  const asking = uploads.find(({ state }) => state.kind === "exists")
  if (uploads.length === 0) return null
  return (
    <section aria-label="Uploads" className="max-h-[40%] shrink-0 overflow-y-auto border-line-soft border-t px-3 py-2">
      <ul className="flex flex-col gap-1.5">
        {uploads.map((upload) => (
          <li key={upload.id}>
            <UploadRow upload={upload} onDismiss={() => dismiss(upload.id)} />
          </li>
        ))}
      </ul>
      {asking && (
        <Dialog
          open
          onOpenChange={(open) => !open && dismiss(asking.id)}
          title="Replace this file?"
          description={
            <>
              <span className="font-mono text-[12px] text-text">{asking.path}</span> is there already. What is in it now will be gone,
              unless git has it.
            </>
          }
        >
          <DialogActions>
            <Button onClick={() => dismiss(asking.id)}>Keep it</Button>
            <Button look="danger" onClick={() => replace(asking)}>
              Replace
            </Button>
          </DialogActions>
        </Dialog>
      )}
    </section>
  )
}

function UploadRow({ upload, onDismiss }: { upload: Upload; onDismiss: () => void }) {
  const { state, path, file } = upload
  return (
    <div className="text-s">
      <div className="flex items-center gap-2">
        {state.kind === "done" && <Glyph name="done" size={11} />}
        {state.kind === "failed" && <Glyph name="cross" size={11} />}
        <span className="min-w-0 truncate font-mono">{path}</span>
        <span className="ml-auto shrink-0 text-text-3">
          {state.kind === "sending" ? `${state.percent}%` : state.kind === "done" ? "uploaded" : formatBytes(file.size)}
        </span>
        {state.kind === "failed" && (
          <IconButton label="Dismiss" className="size-5" onClick={onDismiss}>
            <X className="size-3" />
          </IconButton>
        )}
      </div>
      {state.kind === "sending" && <ProgressBar label={`Uploading ${path}`} percent={state.percent} />}
      {state.kind === "failed" && (
        <p role="alert" className="text-bad">
          {state.words}
        </p>
      )}
    </div>
  )
}
