import { createContext, useContext } from "react"
import type { FileChange, Spot } from "@/lib/client/change-list"
import type { useCommentActions } from "@/lib/client/queries/workspace"

/** What the rows of the changes need besides themselves. */
export type ChangesContextValue = {
  sessionId: string
  comments: ReturnType<typeof useCommentActions>
  toggle: (key: string, open: boolean) => void
  showLarge: (change: FileChange) => void
  retry: (change: FileChange) => void
  closeEditor: () => void
  openFile: (path: string) => void
}

type OpenEditor = (change: FileChange, spot: Omit<Spot, "text">) => void
/** By itself, because it never changes: lines need nothing else, and are drawn again only when they change themselves. */
const EditorContext = createContext<OpenEditor>(() => undefined)
export const OpenEditorProvider = EditorContext.Provider
export const useOpenEditor = () => useContext(EditorContext)

const Context = createContext<ChangesContextValue | null>(null)
export const ChangesProvider = Context.Provider

export function useChangesContext(): ChangesContextValue {
  const value = useContext(Context)
  if (!value) throw new Error("A row of the changes was rendered outside their panel.")
  return value
}
