"use client"

import { useRouter } from "next/navigation"
import { type ReactNode, useRef, useState } from "react"
import { Button, buttonClass } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { FormError } from "@/components/ui/field"
import { Glyph } from "@/components/ui/glyph"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatBytes, plural } from "@/lib/client/format"
import { takeFocus } from "@/lib/client/hooks"
import { useImportSession } from "@/lib/client/queries/transfer"
import { sessionPath } from "@/lib/client/session-phase"
import { skippedWords } from "@/lib/client/transfer-words"
import { isAppError } from "@/lib/contracts/errors"
import type { ImportResult } from "@/lib/contracts/transfer"
import { AgentPicker } from "./agent-picker"

/** Takes a session over from the file another server made of it, and says what came and what did not. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null)
  const [agent, setAgent] = useState<string | null>(null)
  const imports = useImportSession()
  const result = imports.data
  // Only then is it asked for: an ordinary file names its agent itself.
  const agentUnknown = isAppError(imports.error) && imports.error.message.includes("?agent=")
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={result ? "Session imported" : "Import a session"}
      description={
        result
          ? `${plural(result.events, "event")} were read. Nothing was sent to an agent.`
          : "Choose the .tar file that “Export” made, here or on another server."
      }
    >
      {result ? (
        <Imported result={result} onClose={onClose} />
      ) : (
        <>
          <FileInput file={file} onFile={setFile} />
          {(agentUnknown || agent) && (
            <div className="mt-2 flex items-center gap-2 text-text-2">
              Agent of the session: <AgentPicker agent={agent ?? "demo"} onChoose={setAgent} />
            </div>
          )}
          {imports.error && (
            <div className="mt-3">
              <FormError>
                {agentUnknown ? "The file does not say which agent the session was with. Choose it." : errorSentence(imports.error)}
              </FormError>
            </div>
          )}
          <DialogActions>
            <Button onClick={onClose}>Cancel</Button>
            <Button
              look="primary"
              disabled={!file || imports.isPending}
              onClick={() => file && imports.mutate({ file, agent: agent ?? (agentUnknown ? "demo" : null) })}
            >
              {imports.isPending ? "Importing…" : "Import"}
            </Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  )
}

function FileInput({ file, onFile }: { file: File | null; onFile: (file: File | null) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <div className="mt-3.5 flex items-center gap-2.5 rounded-md border border-line border-dashed bg-panel px-[13px] py-[11px]">
      <label className={buttonClass("plain", "has-focus-visible:outline-2 has-focus-visible:outline-alive")}>
        Choose file
        <input
          ref={input}
          type="file"
          accept=".tar,application/x-tar"
          className="sr-only"
          onChange={(event) => onFile(event.target.files?.[0] ?? null)}
        />
      </label>
      <span className="min-w-0 flex-1 truncate text-text-2">{file ? file.name : "No file chosen."}</span>
      {file && <span className="shrink-0 text-s text-text-3">{formatBytes(file.size)}</span>}
    </div>
  )
}

function Imported({ result, onClose }: { result: ImportResult; onClose: () => void }) {
  const router = useRouter()
  const open = () => {
    onClose()
    router.push(sessionPath({ task_id: result.task_id, id: result.session_id }))
  }
  const skipped = skippedWords(result)
  return (
    <>
      <ul aria-label="What was imported" className="mt-3.5 grid gap-[5px] rounded-md border border-line-soft bg-panel px-[13px] py-[11px]">
        <Fact>Conversation</Fact>
        {result.held_prompts > 0 && (
          <Fact attention>{plural(result.held_prompts, "queued message")} held: the agent may have had them already</Fact>
        )}
        {result.interrupted_run && <Fact attention>A run was open and is now marked as interrupted</Fact>}
        {result.notes.map((note) => (
          <Fact key={note} attention>
            {note}
          </Fact>
        ))}
        {skipped.length > 0 && <Fact attention>{plural(result.skipped_count, "record")} could not be used as they stood</Fact>}
      </ul>
      {skipped.length > 0 && (
        <ul aria-label="Skipped" className="mt-2 max-h-32 overflow-y-auto px-[13px] font-mono text-s text-text-3">
          {skipped.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
        <Button look="primary" onClick={open} ref={takeFocus}>
          Open task
        </Button>
      </DialogActions>
    </>
  )
}

function Fact({ children, attention = false }: { children: ReactNode; attention?: boolean }) {
  return (
    <li className="flex items-baseline gap-2.5">
      <Glyph name={attention ? "warn" : "done"} className="translate-y-[2px]" />
      <span className="min-w-0">{children}</span>
    </li>
  )
}
