import { useQuery } from "@tanstack/react-query"
import { useVirtualizer } from "@tanstack/react-virtual"
import { ChevronLeft, Download } from "lucide-react"
import { useEffect, useMemo, useRef, useState } from "react"
import { CodeText } from "@/components/changes/code-text"
import { buttonClass, IconButton } from "@/components/ui/button"
import { PanelFailure } from "@/components/workspace/panel-failure"
import { formatBytes } from "@/lib/client/format"
import { type HighlightedLines, highlight } from "@/lib/client/highlight"
import { languageOf } from "@/lib/client/language-of"
import { filePath } from "@/lib/client/queries/workspace"
import { type FileHead, isPicture, readFileHead, SHOWN_BYTES } from "@/lib/client/workspace-file"

type FileViewerProps = { sessionId: string; path: string; onBack: () => void }

export function FileViewer({ sessionId, path, onBack }: FileViewerProps) {
  const file = useQuery({
    queryKey: ["workspace", sessionId, "file", path],
    queryFn: () => readFileHead(sessionId, path),
    retry: false,
  })
  return (
    <section aria-label={path} className="flex min-w-0 flex-1 flex-col">
      <header className="flex h-10 shrink-0 items-center gap-2 border-line-soft border-b px-3 touch:h-12">
        <span className="hidden phone:contents">
          <IconButton label="Back to the files" onClick={onBack}>
            <ChevronLeft className="size-4" />
          </IconButton>
        </span>
        <h2 className="min-w-0 truncate font-mono text-[12px]" title={path}>
          {path}
        </h2>
        {file.data && <span className="shrink-0 text-s text-text-3">{formatBytes(file.data.bytes)}</span>}
        <a href={filePath(sessionId, path, true)} download className={buttonClass("quiet", "ml-auto")}>
          <Download aria-hidden="true" className="size-3.5" />
          Download
        </a>
      </header>
      {file.error ? (
        <PanelFailure what="This file could not be opened." error={file.error} onRetry={() => void file.refetch()} />
      ) : file.data ? (
        <Content key={path} sessionId={sessionId} path={path} file={file.data} />
      ) : (
        <p role="status" className="grid flex-1 place-items-center text-text-3">
          Loading…
        </p>
      )}
    </section>
  )
}

const Said = ({ children }: { children: React.ReactNode }) => (
  <p className="grid flex-1 place-items-center px-6 text-center text-text-3">{children}</p>
)

function Content({ sessionId, path, file }: { sessionId: string; path: string; file: FileHead }) {
  if (isPicture(path) && file.bytes > 0) {
    return (
      <div className="grid min-h-0 flex-1 place-items-center overflow-auto bg-panel p-6">
        <img
          src={`${filePath(sessionId, path)}&v=${encodeURIComponent(file.etag)}`}
          alt={path}
          className="max-h-full max-w-full rounded-sm border border-line bg-[repeating-conic-gradient(var(--line-soft)_0_25%,var(--bg)_0_50%)] bg-[length:16px_16px]"
        />
      </div>
    )
  }
  if (file.text === null) return <Said>A binary file of {formatBytes(file.bytes)}. Download it to open it elsewhere.</Said>
  if (file.bytes === 0) return <Said>This file is empty.</Said>
  return (
    <>
      {file.truncated && (
        <p role="status" className="border-line-soft border-b bg-need-soft px-3 py-1.5 text-s">
          Only the first {formatBytes(SHOWN_BYTES)} of {formatBytes(file.bytes)} are shown. Download the file to see all of it.
        </p>
      )}
      <Lines text={file.text} path={path} />
    </>
  )
}

function Lines({ text, path }: { text: string; path: string }) {
  const lines = useMemo(() => (text.endsWith("\n") ? text.slice(0, -1) : text).split(/\r?\n/), [text])
  const colours = useColours(text, path)
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 20,
    overscan: 30,
  })
  const width = `${String(lines.length).length + 3}ch`
  return (
    <section
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must be reachable by keyboard.
      tabIndex={0}
      aria-label={`Content of ${path}`}
      className="code-lines min-h-0 flex-1 overflow-y-auto overflow-x-hidden py-2 outline-none"
    >
      <div className="relative w-full" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map((item) => (
          <div
            key={item.key}
            data-index={item.index}
            ref={virtualizer.measureElement}
            className="absolute inset-x-0 top-0 flex min-h-5"
            style={{ transform: `translateY(${item.start}px)` }}
          >
            <span aria-hidden="true" style={{ width }} className="shrink-0 select-none pr-3 text-right text-text-3 tabular-nums">
              {item.index + 1}
            </span>
            <span className="min-w-0 flex-1 whitespace-pre-wrap pr-3 [overflow-wrap:anywhere]">
              <CodeText text={lines[item.index] ?? ""} tokens={colours?.[item.index]} />
            </span>
          </div>
        ))}
      </div>
    </section>
  )
}

function useColours(text: string, path: string): HighlightedLines | null {
  const [coloured, setColoured] = useState<{ text: string; lines: HighlightedLines } | null>(null)
  useEffect(() => {
    let current = true
    highlight(text.replace(/\r\n/g, "\n"), languageOf(path)).then(
      (lines) => current && lines && setColoured({ text, lines }),
      () => undefined,
    )
    return () => {
      current = false
    }
  }, [text, path])
  return coloured?.text === text ? coloured.lines : null
}
