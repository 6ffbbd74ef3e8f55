import { Button } from "@/components/ui/button"
import { errorSentence } from "@/lib/client/error-sentence"

export function PanelFailure({ what, error, onRetry }: { what: string; error: unknown; onRetry: () => void }) {
  return (
    <div role="alert" className="grid flex-1 place-content-center justify-items-center gap-3 px-6 text-center text-text-2">
      <p className="max-w-[460px]">
        {what} {errorSentence(error)}
      </p>
      <Button onClick={onRetry}>Try again</Button>
    </div>
  )
}
