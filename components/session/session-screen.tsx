"use client"

import { useMemo, useRef } from "react"
import { useDraftAttachments } from "@/components/attachments/use-draft-attachments"
import { NotFound } from "@/components/frame/not-found"
import { RunRefused } from "@/components/task/run-refused"
import { TaskRestoreDialog } from "@/components/task/task-restore-dialog"
import { useWorkersPanel } from "@/components/terminal/use-workers-panel"
import { WorkersPanel } from "@/components/terminal/workers-panel"
import { useWorkspacePanels, WorkspacePanels } from "@/components/workspace/workspace-panels"
import { useDraft, useLatest, usePast } from "@/lib/client/hooks"
import { useStandaloneRefusal } from "@/lib/client/queries/account"
import { useAgentName } from "@/lib/client/queries/agents"
import { useOutbox } from "@/lib/client/queries/outbox"
import { useCancelRun, useSession } from "@/lib/client/queries/session"
import { useSessionFeed } from "@/lib/client/queries/session-feed"
import { useSessionResumption } from "@/lib/client/queries/session-resumption"
import { useChooseOption, useSetup } from "@/lib/client/queries/setup"
import { useTask } from "@/lib/client/queries/tasks"
import { pickBanner } from "@/lib/client/session-banner"
import { type Phase, phaseOf, phaseWord } from "@/lib/client/session-phase"
import { isPutAway } from "@/lib/client/task-restore"
import type { Wait } from "@/lib/contracts/waits"
import { BannerStrip } from "./banner-strip"
import { Composer } from "./composer"
import { Queue } from "./queue"
import { SessionProvider } from "./session-context"
import { SessionHead } from "./session-head"
import { SessionTabs } from "./session-tabs"
import { SilenceNotice } from "./silence-notice"
import { TimelinePanel } from "./timeline-panel"
import { TranscriptPane } from "./transcript-pane"
import { useBannerActions } from "./use-banner-actions"
import { useInterruptKey } from "./use-interrupt-key"
import { useJustWoken } from "./use-just-woken"
import { useSessionTab } from "./use-session-tab"
import { useTaskRestore } from "./use-task-restore"
import { useWaitAnswers } from "./use-wait-answers"

/** What "Continue" says to an agent whose run was interrupted. */
const CONTINUE_MESSAGE = "continue"
const isPast = (iso: string | null) => iso !== null && Date.parse(iso) <= Date.now()
const NO_WAITS: readonly Wait[] = []

export function SessionScreen({ taskId, sessionId }: { taskId: number; sessionId: string }) {
  const task = useTask(taskId)
  const session = useSession(sessionId)
  const feed = useSessionFeed(taskId, sessionId)
  const expired = usePast(task.data?.expires_at ?? null)
  const putAway = session.data ? isPutAway(session.data.executor_status) : false
  const asleep = putAway || expired
  const standaloneRefusal = useStandaloneRefusal()
  const refusal = session.data?.runtime === "standalone" ? standaloneRefusal : null
  const mayRun = refusal === null
  const known = task.data && session.data && refusal !== undefined
  const report = useSessionResumption(sessionId, known ? asleep || isPast(task.data.expires_at) || !mayRun : undefined)
  const agentName = useAgentName()(session.data?.agent ?? "")
  const { transcript } = feed
  const [draft, setDraft] = useDraft(`rewake.draft.${sessionId}`)
  const attachments = useDraftAttachments(`rewake.draft.${sessionId}`)
  const outbox = useOutbox(taskId, sessionId, transcript.prompts)
  const answers = useWaitAnswers(sessionId, session.data?.waits ?? NO_WAITS)
  const folds = useRef(new Map<string, boolean>()).current
  const cancel = useCancelRun(sessionId)
  const setup = useSetup(sessionId, transcript.setupSeq)
  const choose = useChooseOption(sessionId)
  const restore = useTaskRestore({
    ...{ taskId, sessionId, task: task.data, session: session.data, expired, feed, outbox },
    ...{ draft, setDraft, attachments },
  })
  const justWoken = useJustWoken(transcript)
  const { tab, split, setTab, setSplit } = useSessionTab()
  const terminals = useWorkersPanel({
    ...{ sessionId, tab, split, onTab: setTab, onSplit: setSplit },
    refusal: refusal ?? null,
    executorStatus: report?.executor_status === "unknown" ? "unknown" : session.data?.executor_status,
  })

  const actions = useBannerActions(taskId, sessionId, mayRun, {
    onContinue: () => void outbox.send(CONTINUE_MESSAGE),
    onCancelWaking: () => cancel.mutate(),
    onComeBack: restore.open,
    onTypeCommand: (line) => void terminals.runNew(line),
  })
  const undoFresh = actions.onUndoFresh
  const workspace = useWorkspacePanels(sessionId, session.data)
  const runAgain = useLatest(terminals.runAgain)
  const openTabs = terminals.workers.map((worker) => worker.id).join(" ")
  const context = useMemo(() => {
    const open = new Set(openTabs.split(" "))
    const again = (workerId: string, command: string) => void runAgain.current(workerId, command)
    return { agentName, answers, folds, undoFresh, runAgain: again, hasTerminal: (id: string) => open.has(id) }
  }, [agentName, answers, folds, undoFresh, openTabs, runAgain])

  const unsent = outbox.entries.filter((entry) => entry.state !== "expired")
  const phase: Phase = session.data ? phaseOf(session.data) : "idle"
  const running = transcript.run !== null
  const stopping = transcript.run?.cancelRequested === true || cancel.isPending
  const interrupt = () => !stopping && cancel.mutate()
  useInterruptKey(running, interrupt)

  if (session.error && !session.data) return <NotFound error={session.error} retry={() => void session.refetch()} />
  const banner = pickBanner({
    session: session.data,
    report,
    transcript,
    dismissedRun: actions.dismissedRun,
    justWoken,
    expired,
    preview: restore.preview,
    signIn: setup?.sign_in ?? null,
  })
  return (
    <SessionProvider value={context}>
      <SessionHead task={task.data} session={session.data} processesSince={transcript.processesSince} report={report} />
      <SessionTabs task={task.data} sessionId={sessionId} tab={tab} states={workspace.tabs} onTab={setTab} terminals={terminals} />
      <BannerStrip banner={banner} agentName={agentName} actions={actions} progress={restore.progress} />
      <WorkspacePanels
        sessionId={sessionId}
        state={workspace.state}
        shown={tab === "changes" || tab === "files" ? tab : null}
        onFiles={() => setTab("files")}
      />
      {tab === "timeline" && <TimelinePanel feed={feed} />}
      <WorkersPanel panel={terminals} items={transcript.items} />
      {tab === "chat" && <TranscriptPane feed={feed} sent={outbox.sent} queued={transcript.queue.length + unsent.length} />}
      <div
        hidden={tab !== "chat"}
        className="mx-auto w-full max-w-[796px] shrink-0 px-[18px] pt-1.5 pb-3.5 phone:px-2.5 phone:pb-[max(10px,env(safe-area-inset-bottom))]"
      >
        {running && phase !== "needs_you" && transcript.lastEventAt && (
          <SilenceNotice lastEventAt={transcript.lastEventAt} agentName={agentName} onCancel={interrupt} />
        )}
        <Queue
          sessionId={sessionId}
          queue={transcript.queue}
          unsent={unsent}
          onRetry={(entry) => void outbox.retry(entry)}
          onEdit={(entry) => {
            setDraft([entry.text, draft].filter(Boolean).join("\n\n"))
            attachments.giveBack(entry.attachments ?? [])
            outbox.discard(entry.clientMessageId)
          }}
          onDiscard={(entry) => outbox.discard(entry.clientMessageId)}
        />
        {typeof refusal === "string" ? (
          <RunRefused reason={refusal} kept="You can still read everything in this session." />
        ) : (
          <Composer
            draft={draft}
            onDraft={setDraft}
            attachments={attachments}
            agentName={agentName}
            phase={phase === "idle" && expired ? "asleep" : phase}
            asks={asleep}
            queues={phase !== "needs_you" && (running || transcript.waking !== null || transcript.queue.length > 0)}
            stop={{ shown: running, busy: stopping, onStop: interrupt }}
            onSend={(text) => void outbox.send(text, attachments.take())}
            setup={setup}
            onChoose={choose.mutate}
          />
        )}
      </div>
      {restore.dialog && <TaskRestoreDialog {...restore.dialog} />}
      <div role="status" className="sr-only">
        {session.data && `${agentName}: ${phaseWord[phase]}`}
      </div>
    </SessionProvider>
  )
}
