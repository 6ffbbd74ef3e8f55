import Link from "next/link"
import { Button, buttonClass } from "@/components/ui/button"
import { errorSentence } from "@/lib/client/error-sentence"
import { isAppError } from "@/lib/contracts/errors"

/** In the place of a page that cannot be shown: what happened, and what to do. */
export function NotFound({ error, retry }: { error: Error; retry: () => void }) {
  const gone = isAppError(error) && error.code === "NOT_FOUND"
  return (
    <div className="grid flex-1 place-items-center px-6">
      <div role="alert" className="max-w-[380px] text-center">
        <h1 className="font-[630] text-xl">{gone ? "There is nothing here" : "This could not be loaded"}</h1>
        <p className="mt-1 mb-4 text-text-2">{gone ? "It was deleted, or it belongs to someone else." : errorSentence(error)}</p>
        <div className="flex justify-center gap-2">
          {!gone && <Button onClick={retry}>Try again</Button>}
          <Link href="/tasks" className={buttonClass("plain")}>
            Back to tasks
          </Link>
        </div>
      </div>
    </div>
  )
}
