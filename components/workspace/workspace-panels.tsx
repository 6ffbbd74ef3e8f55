import { useState } from "react"
import { ChangesPanel } from "@/components/changes/changes-panel"
import { FilesPanel } from "@/components/files/files-panel"
import { countChanged } from "@/lib/client/change-list"
import { useChanges, useWorkspaceSync } from "@/lib/client/queries/workspace"
import { type WorkspaceState, workspaceState } from "@/lib/client/workspace-state"
import type { SessionView } from "@/lib/contracts/task"
import { NotUsable } from "./not-usable"

/** What the session's tabs show of its workspace, live for as long as its page is open. */
export function useWorkspacePanels(sessionId: string, session: SessionView | undefined) {
  const state = workspaceState(session)
  useWorkspaceSync(sessionId, state.usable)
  const changes = useChanges(sessionId, state.usable)
  const disabled = state.usable ? undefined : state.reason
  return {
    state,
    tabs: { changes: { count: changes.data && countChanged(changes.data), disabled }, files: { disabled } },
  }
}

type WorkspacePanelsProps = { sessionId: string; state: WorkspaceState; shown: "changes" | "files" | null; onFiles: () => void }

export function WorkspacePanels({ sessionId, state, shown, onFiles }: WorkspacePanelsProps) {
  const [file, setFile] = useState<string | null>(null)
  if (shown === null) return null
  if (!state.usable) return <NotUsable state={state} />
  if (shown === "files") return <FilesPanel sessionId={sessionId} file={file} onFile={setFile} />
  const openFile = (path: string) => {
    setFile(path)
    onFiles()
  }
  return <ChangesPanel sessionId={sessionId} onOpenFile={openFile} />
}
