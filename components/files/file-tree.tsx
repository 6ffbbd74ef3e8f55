import { useQuery } from "@tanstack/react-query"
import { ChevronRight, CornerUpRight, File as FileIcon, Folder as FolderIcon, FolderOpen } from "lucide-react"
import { type DragEvent, type KeyboardEvent, useState } from "react"
import { cn } from "@/components/ui/cn"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatBytes } from "@/lib/client/format"
import { folderQuery } from "@/lib/client/queries/workspace"
import type { FileEntry } from "@/lib/contracts/workspace"

export type TreeActions = {
  open: ReadonlySet<string>
  selected: string | null
  onToggle: (folder: string) => void
  onFile: (path: string) => void
  onDrop: (folder: string, files: readonly File[]) => void
}

type FolderProps = { sessionId: string; folder: string; depth: number; actions: TreeActions }

/** One folder's entries; a folder inside is asked for when it is opened. */
export function FolderEntries({ sessionId, folder, depth, actions }: FolderProps) {
  const listing = useQuery(folderQuery(sessionId, folder))
  const indent = { paddingLeft: 10 + depth * 14 }
  if (listing.error && !listing.data)
    return (
      <p role="alert" style={indent} className="py-1 pr-2 text-bad text-s">
        {errorSentence(listing.error)}
      </p>
    )
  if (!listing.data)
    return (
      <p style={indent} className="py-1 text-s text-text-3">
        Loading…
      </p>
    )
  const { entries, total, truncated } = listing.data
  if (entries.length === 0)
    return (
      <p style={indent} className="py-1 text-s text-text-3">
        {depth === 0 ? "Nothing here yet. What the agent writes, or you upload, shows up here." : "Empty"}
      </p>
    )
  return (
    <>
      {entries.map((entry) => (
        <Entry key={entry.name} entry={entry} sessionId={sessionId} folder={folder} depth={depth} actions={actions} />
      ))}
      {truncated && (
        <p style={indent} className="py-1 text-s text-text-3">
          {(total - entries.length).toLocaleString("en")} more are not listed.
        </p>
      )}
    </>
  )
}

const joined = (folder: string, name: string) => (folder === "" ? name : `${folder}/${name}`)

/** Why an entry cannot be opened; null when it can. */
function refusal({ kind, link, addressable }: FileEntry): string | null {
  if (!addressable) return "Its name is not UTF-8 text"
  if (kind === "other") return "A device, a socket or a pipe"
  if (link?.leads === "outside") return "A link that leads out of the workspace"
  if (kind === "link" && !link?.kind) return "A link that leads nowhere"
  return null
}

function Entry({ entry, sessionId, folder, depth, actions }: FolderProps & { entry: FileEntry }) {
  const [over, setOver] = useState(false)
  const path = entry.link?.path ?? joined(folder, entry.name)
  const isFolder = entry.kind === "folder"
  const refused = refusal(entry)
  const expanded = isFolder && actions.open.has(path)
  const choose = () => {
    if (refused) return
    if (isFolder || entry.link?.kind === "folder") actions.onToggle(path)
    else actions.onFile(path)
  }
  const Icon = isFolder ? (expanded ? FolderOpen : FolderIcon) : entry.kind === "link" ? CornerUpRight : FileIcon
  const drop = isFolder ? dropHandlers(setOver, (files) => actions.onDrop(path, files)) : {}
  return (
    <>
      <div
        role="treeitem"
        aria-level={depth + 1}
        aria-expanded={isFolder ? expanded : undefined}
        aria-selected={path === actions.selected}
        aria-disabled={refused ? true : undefined}
        tabIndex={path === actions.selected ? 0 : -1}
        data-tree-item
        title={refused ?? (entry.link?.path ? `→ ${entry.link.path}` : undefined)}
        onClick={choose}
        onKeyDown={(event) => onTreeKey(event, choose, isFolder && expanded, isFolder)}
        style={{ paddingLeft: 6 + depth * 14 }}
        className={cn(
          "flex h-[26px] cursor-default select-none items-center gap-1.5 pr-2.5 outline-offset-[-2px] hover:bg-hover touch:h-11",
          path === actions.selected && "bg-hover",
          refused && "opacity-55",
          over && "bg-alive-soft",
        )}
        {...drop}
      >
        <ChevronRight
          aria-hidden="true"
          className={cn("size-3 shrink-0 text-text-3 transition-transform", expanded && "rotate-90", !isFolder && "invisible")}
        />
        <Icon aria-hidden="true" className={cn("size-3.5 shrink-0", isFolder ? "text-work" : "text-text-3")} />
        <span className="min-w-0 truncate">{entry.name}</span>
        {entry.kind === "file" && (
          <span className="ml-auto shrink-0 pl-2 text-text-3 text-xs tabular-nums">{formatBytes(entry.bytes)}</span>
        )}
      </div>
      {expanded && (
        // biome-ignore lint/a11y/useSemanticElements: a group of a tree is no fieldset.
        <div role="group">
          <FolderEntries sessionId={sessionId} folder={path} depth={depth + 1} actions={actions} />
        </div>
      )}
    </>
  )
}

export function dropHandlers(setOver: (over: boolean) => void, onFiles: (files: readonly File[]) => void) {
  const carries = (event: DragEvent) => event.dataTransfer.types.includes("Files")
  return {
    onDragOver: (event: DragEvent) => {
      if (!carries(event)) return
      event.preventDefault()
      event.stopPropagation()
      setOver(true)
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      if (!carries(event)) return
      event.preventDefault()
      event.stopPropagation()
      setOver(false)
      onFiles([...event.dataTransfer.files])
    },
  }
}

function onTreeKey(event: KeyboardEvent<HTMLElement>, choose: () => void, expanded: boolean, isFolder: boolean): void {
  const items = [...document.querySelectorAll<HTMLElement>("[data-tree-item]")]
  const at = items.indexOf(event.currentTarget)
  const focus = (to: number) => items[to]?.focus()
  const keys: Record<string, () => void> = {
    ArrowDown: () => focus(at + 1),
    ArrowUp: () => focus(at - 1),
    Home: () => focus(0),
    End: () => focus(items.length - 1),
    Enter: choose,
    " ": choose,
    ArrowRight: () => (isFolder && !expanded ? choose() : focus(at + 1)),
    ArrowLeft: () => (expanded ? choose() : focus(parentOf(items, at))),
  }
  const act = keys[event.key]
  if (!act) return
  event.preventDefault()
  act()
}

function parentOf(items: readonly HTMLElement[], at: number): number {
  const level = Number(items[at]?.ariaLevel)
  return items.findLastIndex((item, index) => index < at && Number(item.ariaLevel) < level)
}
