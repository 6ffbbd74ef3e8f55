import { FileText } from "lucide-react"
import { useState } from "react"
import { cn } from "@/components/ui/cn"
import { attachmentPath } from "@/lib/client/attachments"
import type { Attachment } from "@/lib/contracts/attachments"

/** A picture in small, or the sign of a file; the name stands beside it. */
export function AttachmentFace({ picture, className }: { picture: Attachment | null; className?: string }) {
  const [gone, setGone] = useState(false)
  return (
    <span className={cn("flex shrink-0 items-center justify-center overflow-hidden rounded-sm bg-panel text-text-3", className)}>
      {picture && !gone ? (
        <img src={attachmentPath(picture.id)} alt="" className="size-full object-cover" onError={() => setGone(true)} />
      ) : (
        <FileText aria-hidden className="size-4" />
      )}
    </span>
  )
}
