import { useRef } from "react"
import { Button } from "@/components/ui/button"
import { inputClass } from "@/components/ui/field"
import { Kbd } from "@/components/ui/kbd"
import { errorSentence } from "@/lib/client/error-sentence"
import { takeFocus, useAutoHeight, useDraft } from "@/lib/client/hooks"

type CommentEditorProps = {
  /** Names the text while it is being written: scrolled out of sight, or reloaded, it is not lost. */
  draftKey: string
  label: string
  initial?: string
  saving: boolean
  error: unknown
  onSave: (content: string) => Promise<unknown>
  onCancel: () => void
}

export function CommentEditor({ draftKey, label, initial = "", saving, error, onSave, onCancel }: CommentEditorProps) {
  const [draft, setDraft] = useDraft(draftKey)
  const field = useRef<HTMLTextAreaElement | null>(null)
  const text = draft === "" ? initial : draft
  useAutoHeight(field, text)
  const close = () => {
    setDraft("")
    onCancel()
  }
  const save = () => {
    if (text.trim() === "" || saving) return
    onSave(text.trim()).then(close, () => undefined)
  }
  return (
    <div className="rounded-md border border-line bg-raised p-2 font-sans">
      <textarea
        ref={(element) => {
          if (element && !field.current) takeFocus(element)
          field.current = element
        }}
        aria-label={label}
        placeholder="What should the agent do here?"
        rows={2}
        value={text}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save()
          else if (event.key === "Escape") close()
          else return
          event.preventDefault()
          event.stopPropagation()
        }}
        className={`${inputClass} max-h-[240px] resize-none`}
      />
      {error != null && (
        <p role="alert" className="mt-1 text-bad text-s">
          {errorSentence(error)}
        </p>
      )}
      <div className="mt-2 flex items-center gap-2">
        <span className="text-s text-text-3 phone:hidden">
          <Kbd>Ctrl ⏎</Kbd> to keep it. It is sent when you send all of them.
        </span>
        <Button look="quiet" className="ml-auto" onClick={close}>
          Cancel
        </Button>
        <Button look="primary" disabled={text.trim() === "" || saving} onClick={save}>
          Add comment
        </Button>
      </div>
    </div>
  )
}
