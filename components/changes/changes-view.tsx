import { useQueryClient } from "@tanstack/react-query"
import { useVirtualizer } from "@tanstack/react-virtual"
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react"
import { type FileChange, groupChanges, isDraft, isLarge } from "@/lib/client/change-list"
import { type ChangeRow, type EditorSpot, rowHeight, toRows } from "@/lib/client/change-rows"
import { useLatest, usePhone } from "@/lib/client/hooks"
import { fileDiffQuery, useCommentActions } from "@/lib/client/queries/workspace"
import type { ParsedDiff } from "@/lib/client/unified-diff"
import type { Changes, CommentView } from "@/lib/contracts/workspace"
import { ChangeRowView } from "./change-row"
import { ChangesProvider, OpenEditorProvider } from "./changes-context"
import { NoChanges } from "./changes-panel"
import { ChangesToolbar } from "./changes-toolbar"
import { FileHeader } from "./file-header"
import { FileList } from "./file-list"
import { changeMemory, useChangeView } from "./use-change-view"
import { useDiffColours } from "./use-diff-colours"
import { useFileDiffs } from "./use-file-diffs"
import { useFileKeys } from "./use-file-keys"

type ChangesViewProps = {
  sessionId: string
  changes: Changes
  comments: readonly CommentView[]
  onOpenFile: (path: string) => void
}

const changeOf = (row: ChangeRow | undefined): FileChange | null => (row && "change" in row ? row.change : null)

/** What is laid over the list must leave the list's scrollbar free. */
const scrollbarOf = (element: HTMLElement | null) => (element ? element.offsetWidth - element.clientWidth : 0)

function parsedIn(rows: readonly ChangeRow[]): { path: string; parsed: ParsedDiff }[] {
  const found = new Map(rows.flatMap((row) => ("parsed" in row ? [[row.parsed, row.change.file.path] as const] : [])))
  return [...found].map(([parsed, path]) => ({ parsed, path }))
}

export function ChangesView({ sessionId, changes, comments, onOpenFile }: ChangesViewProps) {
  const client = useQueryClient()
  const phone = usePhone()
  const { split, setSplit } = useChangeView()
  const memory = changeMemory(sessionId)
  const [, redraw] = useState(0)
  const draw = () => redraw((times) => times + 1)
  const [wanted, setWanted] = useState<ReadonlySet<string>>(new Set())
  const [editor, setEditor] = useState<EditorSpot | null>(null)
  const actions = useCommentActions(sessionId)
  const scroller = useRef<HTMLDivElement>(null)

  const groups = useMemo(() => groupChanges(changes), [changes])
  const wantedFiles = useMemo(() => groups.flatMap(({ files }) => files.filter(({ key }) => wanted.has(key))), [groups, wanted])
  const diffs = useFileDiffs(sessionId, wantedFiles)
  const { folds, shown } = memory
  const rows = toRows({ groups, split, folds, shown, diffs, comments, editor })

  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (at) => rowHeight(rows[at] as ChangeRow),
    getItemKey: (at) => (rows[at] as ChangeRow).key,
    overscan: 20,
    initialOffset: memory.scroll,
    // Keeps what is being read in its place when lines above it come and go.
    anchorTo: "end",
  })
  const items = virtualizer.getVirtualItems()
  const drawn = items.map(({ index }) => rows[index] as ChangeRow)
  useEffect(() => {
    const asked = drawn.flatMap((row) => changeOf(row) ?? []).filter(({ key, file }) => !file.binary && (!isLarge(file) || shown.has(key)))
    const fresh = asked.filter(({ key }) => !wanted.has(key))
    if (fresh.length > 0) setWanted(new Set([...wanted, ...fresh.map(({ key }) => key)]))
  })
  const painted = useDiffColours(parsedIn(drawn))
  useLayoutEffect(() => {
    const element = scroller.current
    return () => {
      memory.scroll = element?.scrollTop ?? 0
    }
  }, [memory])

  const top = items.find(({ end }) => end > (virtualizer.scrollOffset ?? 0) + 1)
  const topRow = top && rows[top.index]
  const current = changeOf(topRow)
  const stuck = current && topRow?.type !== "file" ? current : null
  /** The file to go to once its row is there: its group may have been folded. */
  const goal = useRef<string | null>(null)
  useEffect(() => {
    const index = goal.current === null ? -1 : rows.findIndex((row) => row.type === "file" && row.change.key === goal.current)
    if (index === -1) return
    goal.current = null
    virtualizer.scrollToIndex(index, { align: "start" })
  })
  const toggle = (key: string, open: boolean) => {
    folds.set(key, open)
    // Folded while its head sticks to the top, its place is elsewhere: the reader stays with the file.
    if (!open && stuck?.key === key) goal.current = key
    draw()
  }
  const choose = (groupKey: string, fileKey: string) => {
    folds.set(groupKey, true)
    folds.set(fileKey, true)
    goal.current = fileKey
    draw()
  }
  useFileKeys((by) => {
    const heads = rows.flatMap((row, at) => (row.type === "file" ? [at] : []))
    // Where the last key has already led: its scroll event, and so the next drawing, may still be to come.
    const now = virtualizer.getVirtualItemForOffset((scroller.current?.scrollTop ?? 0) + 1)?.index ?? 0
    const next = by === 1 ? heads.find((at) => at > now) : heads.findLast((at) => at < now)
    if (next !== undefined) virtualizer.scrollToIndex(next, { align: "start" })
  })
  const latestReset = useLatest(actions.create.reset)
  const openEditor = useCallback(
    ({ key }: FileChange, spot: { side: "old" | "new"; line: number }) => {
      latestReset.current()
      setEditor({ fileKey: key, ...spot })
    },
    [latestReset],
  )

  const drafts = comments.filter(isDraft).length
  const context = {
    sessionId,
    comments: actions,
    toggle,
    showLarge: ({ key }: FileChange) => {
      shown.add(key)
      draw()
    },
    retry: ({ of, file: { path, old_path, version } }: FileChange) =>
      void client.refetchQueries({ queryKey: fileDiffQuery(sessionId, { of, path, old_path, version }).queryKey }),
    closeEditor: () => setEditor(null),
    openFile: onOpenFile,
  }
  return (
    <ChangesProvider value={context}>
      <ChangesToolbar changes={changes} drafts={drafts} split={split} onSplit={setSplit} onSent={() => setEditor(null)} />
      {groups.length === 0 ? (
        <NoChanges />
      ) : (
        <div className="flex min-h-0 flex-1">
          <FileList groups={groups} current={current?.key ?? null} onChoose={choose} />
          <div className="relative min-w-0 flex-1">
            <section
              ref={scroller}
              // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must be reachable by keyboard.
              tabIndex={0}
              aria-label="Changed lines"
              className="code-lines h-full overflow-y-auto overflow-x-hidden overscroll-contain outline-none [overflow-anchor:none]"
            >
              <OpenEditorProvider value={openEditor}>
                <div className="relative w-full" style={{ height: virtualizer.getTotalSize() }}>
                  {items.map((item) => {
                    const row = rows[item.index] as ChangeRow
                    return (
                      <div
                        key={item.key}
                        data-index={item.index}
                        ref={virtualizer.measureElement}
                        className="absolute inset-x-0 top-0"
                        style={{ transform: `translateY(${item.start}px)` }}
                      >
                        <ChangeRowView row={row} phone={phone} painted={painted} />
                      </div>
                    )
                  })}
                </div>
              </OpenEditorProvider>
            </section>
            {stuck && (
              <div className="absolute inset-x-0 top-0 z-10" style={{ right: scrollbarOf(scroller.current) }}>
                <FileHeader change={stuck} open drafts={0} stuck />
              </div>
            )}
          </div>
        </div>
      )}
    </ChangesProvider>
  )
}
