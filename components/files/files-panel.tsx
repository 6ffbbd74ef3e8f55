"use client"

import { FileText, Upload } from "lucide-react"
import { useState } from "react"
import { buttonClass } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { formatBytes } from "@/lib/client/format"
import { MAX_UPLOAD_BYTES } from "@/lib/contracts/workspace"
import { dropHandlers, FolderEntries } from "./file-tree"
import { FileViewer } from "./file-viewer"
import { UploadList } from "./upload-list"
import { useUploads } from "./use-uploads"

type FilesPanelProps = { sessionId: string; file: string | null; onFile: (path: string | null) => void }

const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")))
const parentsOf = (path: string) => path.split("/").flatMap((_, at, parts) => (at === 0 ? [] : [parts.slice(0, at).join("/")]))

/** Which folders are open, for as long as the page lives. */
const opened = new Map<string, ReadonlySet<string>>()

/** The files of the workspace: a tree beside the one that is open; on a phone one after the other. */
export function FilesPanel({ sessionId, file, onFile }: FilesPanelProps) {
  const [known, setKnown] = useState(opened.get(sessionId) ?? new Set<string>())
  const [folder, setFolder] = useState(file ? folderOf(file) : "")
  const [over, setOver] = useState(false)
  const { uploads, add, dismiss, replace } = useUploads(sessionId)
  const open = file ? new Set([...known, ...parentsOf(file)]) : known
  const remember = (next: ReadonlySet<string>) => {
    opened.set(sessionId, next)
    setKnown(next)
  }
  const toggle = (path: string) => {
    const next = new Set(open)
    if (!next.delete(path)) next.add(path)
    setFolder(next.has(path) ? path : folderOf(path))
    remember(next)
  }
  const choose = (path: string) => {
    setFolder(folderOf(path))
    remember(open)
    onFile(path)
  }
  const drop = dropHandlers(setOver, (files) => add(folder, files))
  return (
    <div role="tabpanel" aria-label="Files" className="flex min-h-0 flex-1">
      <div
        {...drop}
        className={cn(
          "flex w-[300px] shrink-0 flex-col border-line-soft border-r phone:w-full phone:border-r-0",
          file && "phone:hidden",
          over && "bg-alive-soft",
        )}
      >
        <div className="flex h-10 shrink-0 items-center gap-2 border-line-soft border-b px-3 touch:h-14">
          <span className="min-w-0 truncate text-s text-text-3" title={folder === "" ? "The workspace itself" : folder}>
            {folder === "" ? "Workspace" : folder}
          </span>
          <label
            className={buttonClass("plain", "ml-auto has-focus-visible:outline-2 has-focus-visible:outline-alive")}
            title={`Up to ${formatBytes(MAX_UPLOAD_BYTES)} a file`}
          >
            <Upload aria-hidden="true" className="size-3.5" />
            Upload
            <input
              type="file"
              multiple
              className="sr-only"
              onChange={(event) => {
                add(folder, [...(event.target.files ?? [])])
                event.target.value = ""
              }}
            />
          </label>
        </div>
        <div role="tree" aria-label="Files of the workspace" className="min-h-0 flex-1 overflow-y-auto py-1">
          <FolderEntries
            sessionId={sessionId}
            folder=""
            depth={0}
            actions={{ open, selected: file, onToggle: toggle, onFile: choose, onDrop: add }}
          />
        </div>
        <UploadList uploads={uploads} dismiss={dismiss} replace={replace} />
      </div>
      {file ? <FileViewer sessionId={sessionId} path={file} onBack={() => onFile(null)} /> : <NothingOpen />}
    </div>
  )
}

const NothingOpen = () => (
  <div className="grid flex-1 place-content-center justify-items-center gap-2 px-6 text-center text-text-3 phone:hidden">
    <FileText aria-hidden="true" className="size-5" />
    <p>Choose a file to read it here.</p>
    <p className="text-s">Drop files on a folder to upload them, up to {formatBytes(MAX_UPLOAD_BYTES)} each.</p>
  </div>
)
