import { Button } from "@/components/ui/button"
import { errorSentence } from "@/lib/client/error-sentence"
import { isAppError } from "@/lib/contracts/errors"
import { Stray } from "./stray"

/** What was asked for is not there, or could not be had. */
export function NotFound({ error, retry }: { error: Error; retry: () => void }) {
  if (isAppError(error) && error.code === "NOT_FOUND")
    return <Stray title="There is nothing here" lead="It was deleted, or it belongs to someone else." />
  return (
    <Stray title="This could not be loaded" lead={errorSentence(error)}>
      <Button onClick={retry}>Try again</Button>
    </Stray>
  )
}
