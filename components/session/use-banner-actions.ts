import { useRouter } from "next/navigation"
import { useCallback, useState } from "react"
import { taskExpired } from "@/lib/client/error-parser"
import { errorSentence } from "@/lib/client/error-sentence"
import { useAbandonExecutor, useResumeSession } from "@/lib/client/queries/session"
import { useCreateSession } from "@/lib/client/queries/tasks"
import { sessionPath } from "@/lib/client/session-phase"
import { readStored, writeStored } from "@/lib/client/stored"
import type { SignInWay } from "@/lib/contracts/agent-setup"

type Given = { onContinue: () => void; onCancelWaking: () => void; onComeBack: () => void; onTypeCommand: (line: string) => void }

/** What the strip above the transcript can do; nothing that starts an agent where this user may not run one. */
export function useBannerActions(taskId: number, sessionId: string, mayRun: boolean, given: Given) {
  const router = useRouter()
  const key = `rewake.dismissed.${sessionId}`
  const [dismissedRun, setDismissedRun] = useState<string | null>(() => (typeof window === "undefined" ? null : readStored(key)))
  const create = useCreateSession(taskId)
  const { mutate: resume, isPending: resuming, error } = useResumeSession(sessionId)
  const abandon = useAbandonExecutor(sessionId)
  const refused = create.error ?? abandon.error ?? (taskExpired(error) ? null : error)
  const orComeBack = { onError: (refusal: Error) => taskExpired(refusal) && given.onComeBack() }
  return {
    ...given,
    dismissedRun,
    busy: !mayRun || create.isPending || abandon.isPending || resuming,
    refusal: refused ? errorSentence(refused) : null,
    onDismiss: (runId: string) => {
      writeStored(key, runId)
      setDismissedRun(runId)
    },
    onNewSession: () => create.mutate({ from_session_id: sessionId }, { onSuccess: (session) => router.push(sessionPath(session)) }),
    onRetry: () => resume({}, orComeBack),
    onFresh: () => resume({ fresh: true }, orComeBack),
    onAbandon: () => abandon.mutate(),
    onSignIn: (method: SignInWay) =>
      method.command_line === null ? resume({ sign_in: method.id }) : given.onTypeCommand(method.command_line),
    onUndoFresh: useCallback(() => resume({ reinstate: true }), [resume]),
  }
}
