import { Download } from "lucide-react"
import { useState } from "react"
import { Button, buttonClass } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { attachmentPath } from "@/lib/client/attachments"
import { formatBytes } from "@/lib/client/format"
import { type Attachment, isPicture } from "@/lib/contracts/attachments"
import { AttachmentFace } from "./attachment-face"

/** What a message brought: pictures to look at, files to save. */
export function SentAttachments({ attachments }: { attachments: readonly Attachment[] }) {
  const [large, setLarge] = useState<{ attachment: Attachment; opener: HTMLElement } | null>(null)
  if (attachments.length === 0) return null
  return (
    <>
      <ul aria-label="Attachments" className="flex flex-wrap justify-end gap-1.5">
        {attachments.map((attachment) => (
          <li key={attachment.id} className="max-w-full">
            {isPicture(attachment) ? (
              <Picture attachment={attachment} onOpen={(opener) => setLarge({ attachment, opener })} />
            ) : (
              <FileCard attachment={attachment} />
            )}
          </li>
        ))}
      </ul>
      {large && <LargePicture {...large} onClose={() => setLarge(null)} />}
    </>
  )
}

/** Of a fixed height: a transcript must not move when a picture arrives late. */
function Picture({ attachment, onOpen }: { attachment: Attachment; onOpen: (opener: HTMLElement) => void }) {
  const [gone, setGone] = useState(false)
  if (gone) return <FileCard attachment={attachment} missing />
  return (
    <button
      type="button"
      aria-label={`Open ${attachment.name}`}
      title={attachment.name}
      onClick={(event) => onOpen(event.currentTarget)}
      className="block h-[132px] overflow-hidden rounded-md border border-line bg-panel hover:border-text-3"
    >
      <img
        src={attachmentPath(attachment.id)}
        alt={attachment.name}
        className="h-full min-w-[88px] max-w-[min(240px,100%)] object-cover"
        onError={() => setGone(true)}
      />
    </button>
  )
}

const cardClass = "flex w-[220px] max-w-full items-center gap-2 rounded-md border border-line bg-raised py-1.5 pr-2.5 pl-1.5 text-s"

function FileCard({ attachment, missing = false }: { attachment: Attachment; missing?: boolean }) {
  const { name, bytes } = attachment
  const words = (
    <span className="min-w-0 flex-1">
      <span className="block truncate text-text" title={name}>
        {name}
      </span>
      <span className="block text-text-3">{missing ? "Its content is not here." : formatBytes(bytes)}</span>
    </span>
  )
  if (missing) {
    return (
      <span className={cardClass}>
        <AttachmentFace picture={null} className="size-8" />
        {words}
      </span>
    )
  }
  return (
    <a href={attachmentPath(attachment.id)} download={name} aria-label={`Download ${name}`} className={cn(cardClass, "hover:bg-hover")}>
      <AttachmentFace picture={null} className="size-8" />
      {words}
      <Download aria-hidden className="size-3.5 shrink-0 text-text-3" />
    </a>
  )
}

function LargePicture({ attachment, opener, onClose }: { attachment: Attachment; opener: HTMLElement; onClose: () => void }) {
  const { id, name, bytes } = attachment
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      onCloseFocus={() => opener.focus()}
      title={name}
      description={formatBytes(bytes)}
      className="w-auto min-w-[min(320px,calc(100vw-32px))] max-w-[calc(100vw-32px)] break-words"
    >
      <img src={attachmentPath(id)} alt={name} className="mx-auto mt-3 max-h-[66dvh] max-w-full rounded-md border border-line-soft" />
      <DialogActions>
        <a href={attachmentPath(id)} download={name} className={buttonClass("plain")}>
          <Download aria-hidden className="size-3.5" /> Download
        </a>
        <Button look="primary" onClick={onClose}>
          Close
        </Button>
      </DialogActions>
    </Dialog>
  )
}
