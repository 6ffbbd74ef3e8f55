import { Paperclip } from "lucide-react"
import { useRef } from "react"
import { IconButton } from "@/components/ui/button"

export function AttachButton({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <IconButton label="Attach files" onClick={() => input.current?.click()}>
        <Paperclip className="size-4" />
      </IconButton>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])])
          // The same file may be chosen again after it was removed.
          event.target.value = ""
        }}
      />
    </>
  )
}
