import { useCallback, useEffect, useMemo, useState } from "react"
import { errorSentence } from "@/lib/client/error-sentence"
import { useLatest } from "@/lib/client/hooks"
import { isPlainKey } from "@/lib/client/keys"
import { useAnswerWait } from "@/lib/client/queries/session"
import type { Wait, WaitOption } from "@/lib/contracts/waits"

export type WaitAnswers = {
  /** The wait with its secret, while it can be answered. */
  waitOf(tokenId: string): Wait | undefined
  chosen(tokenId: string): string | undefined
  error(tokenId: string): string | undefined
  answer(tokenId: string, optionId: string): void
}

const kindOrder = ["allow_once", "allow_always", "reject_once", "reject_always"]
const rank = (option: WaitOption) => (kindOrder.indexOf(option.kind) + kindOrder.length + 1) % (kindOrder.length + 1)

/** The order in which options are shown and numbered. */
export const orderOptions = (options: readonly WaitOption[]): WaitOption[] =>
  options.every((option) => kindOrder.includes(option.kind)) ? [...options].sort((a, b) => rank(a) - rank(b)) : [...options]

export function useWaitAnswers(sessionId: string, waits: readonly Wait[]): WaitAnswers {
  const { mutate } = useAnswerWait(sessionId)
  const [choices, setChoices] = useState<Record<string, string>>({})
  const [errors, setErrors] = useState<Record<string, string>>({})

  const answer = useCallback(
    (tokenId: string, optionId: string) => {
      const wait = waits.find((w) => w.token_id === tokenId)
      if (!wait || choices[tokenId]) return
      setChoices((all) => ({ ...all, [tokenId]: optionId }))
      setErrors(({ [tokenId]: _, ...rest }) => rest)
      mutate(
        { wait, outcome: { kind: "selected", option_id: optionId } },
        {
          onError: (error) => {
            setChoices(({ [tokenId]: _, ...rest }) => rest)
            setErrors((all) => ({ ...all, [tokenId]: errorSentence(error) }))
          },
        },
      )
    },
    [waits, choices, mutate],
  )

  const first = useLatest(waits[0])
  const act = useLatest(answer)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const wait = first.current
      // With Alt it also works while writing; the character Alt makes of a digit differs by keyboard, its place does not.
      const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code)?.[1]
      const plain = isPlainKey(event) && event.key === digit
      if (!wait || !digit || !(plain || (event.altKey && !event.ctrlKey && !event.metaKey))) return
      const option = orderOptions(wait.options)[Number(digit) - 1]
      if (!option) return
      event.preventDefault()
      act.current(wait.token_id, option.id)
    }
    window.addEventListener("keydown", onKeyDown)
    return () => window.removeEventListener("keydown", onKeyDown)
  }, [first, act])

  return useMemo(
    () => ({
      waitOf: (tokenId) => waits.find((w) => w.token_id === tokenId),
      chosen: (tokenId) => choices[tokenId],
      error: (tokenId) => errors[tokenId],
      answer,
    }),
    [waits, choices, errors, answer],
  )
}
