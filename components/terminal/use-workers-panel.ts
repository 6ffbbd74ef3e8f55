import { useEffect, useState } from "react"
import { errorSentence } from "@/lib/client/error-sentence"
import { useAgents } from "@/lib/client/queries/agents"
import { describeWorker, useCloseWorker, useOpenWorker, usePatchWorker, useWorkers } from "@/lib/client/queries/workers"
import { feedOf } from "@/lib/client/session-feed"
import type { ExecutorStatus } from "@/lib/contracts/status"
import type { WorkerDetail, WorkerView } from "@/lib/contracts/workers"
import { useTerminalSet } from "./terminal-set"
import type { WorkerTabActions } from "./worker-tab"

type Options = {
  sessionId: string
  executorStatus: ExecutorStatus | undefined
  /** Why this user may not start anything here. */
  refusal: string | null
  /** The view that is open, and the terminal beside it. */
  tab: string
  split: string | null
  onTab: (tab: `wrk_${string}` | "chat") => void
  onSplit: (workerId: string | null) => void
}

const EMPTY: WorkerView[] = []
const UNREADY: Partial<Record<ExecutorStatus, string>> = {
  none: "the executor is not started yet",
  starting: "the executor is starting",
  stopped: "the executor is stopped",
  unknown: "the executor does not answer",
  error: "the executor failed",
  reaping: "continue the task first",
  deleted: "continue the task first",
}

/** The terminals of a session: which there are, which are shown, and what a person can do with them. */
export function useWorkersPanel({ sessionId, executorStatus, refusal, tab, split, onTab, onSplit }: Options) {
  const query = useWorkers(sessionId)
  const set = useTerminalSet(sessionId)
  const { data: agents } = useAgents()
  const open = useOpenWorker(sessionId)
  const patch = usePatchWorker(sessionId)
  const close = useCloseWorker(sessionId)
  const [renaming, setRenaming] = useState<string | null>(null)
  const [closing, setClosing] = useState<WorkerDetail | null>(null)
  const [focused, setFocused] = useState<string | null>(null)

  const workers = (query.data ?? EMPTY).filter((worker) => worker.type !== "git-diff")
  const left = workers.find((worker) => worker.id === tab) ?? null
  const right = workers.find((worker) => worker.id === split && worker.id !== tab) ?? null

  useEffect(() => {
    if (executorStatus === "ready") set.retryWaiting()
  }, [executorStatus, set])
  useEffect(() => {
    if (query.data) set.keepOnly(new Set(query.data.map((worker) => worker.id)))
  }, [query.data, set])
  // Somebody else started a process where this page saw one end.
  useEffect(
    () =>
      feedOf(sessionId).onEvents((events) => {
        for (const event of events)
          if (event.kind === "worker.restored" && set.viewOf(event.worker_id)) set.of(event.worker_id).retryEnded()
      }),
    [sessionId, set],
  )
  // A tab that was closed elsewhere must not leave an empty page.
  const lost = query.data !== undefined && !query.isFetching && tab.startsWith("wrk_") && left === null
  useEffect(() => {
    if (lost) onTab("chat")
  })

  const select = (id: string) => {
    setFocused(id)
    if (id === right?.id) return
    // Of two that are shown, the one in use gives way.
    if (right && focused === right.id) onSplit(id === tab ? null : id)
    else onTab(id as `wrk_${string}`)
  }
  const openNew = (type: "terminal" | "agent", agent?: string) =>
    open.mutate({ type, ...(agent ? { agent } : {}) }, { onSuccess: (worker) => select(worker.id) })

  const canFork = (worker: WorkerView) =>
    worker.type === "agent" &&
    refusal === null &&
    executorStatus === "ready" &&
    (agents?.some(({ id, terminal_forks }) => id === worker.agent && terminal_forks) ?? false)
  const fork = (worker: WorkerView) => open.mutate({ type: "agent", fork_of: worker.id }, { onSuccess: (made) => select(made.id) })

  const end = (worker: WorkerView) => {
    setClosing(null)
    const at = workers.findIndex(({ id }) => id === worker.id)
    close.mutate(worker.id, {
      onSuccess: () => {
        if (worker.id === split) return onSplit(null)
        if (worker.id !== tab) return
        const next = right ?? workers.filter(({ id }) => id !== worker.id)[Math.max(0, at - 1)]
        onTab((next?.id as `wrk_${string}` | undefined) ?? "chat")
      },
    })
  }
  const requestClose = async (worker: WorkerView) => {
    const detail = await describeWorker(sessionId, worker.id).catch(() => null)
    const found = detail?.processes ?? []
    // A terminal agent is what runs, with nothing below it.
    const processes =
      found.length === 0 && worker.type === "agent" && detail?.state === "running" ? [{ command: worker.name, foreground: true }] : found
    if (detail && processes.length > 0) setClosing({ ...detail, processes })
    else end(worker)
  }

  const toggleSplit = (worker: WorkerView) => {
    if (right) {
      // The other of the two stays.
      if (worker.id === left?.id) onTab(right.id as `wrk_${string}`)
      return onSplit(null)
    }
    const other = workers.find(({ id }) => id !== worker.id)
    if (other) return onSplit(other.id)
    open.mutate({ type: "terminal" }, { onSuccess: (made) => onSplit(made.id) })
  }

  /** Typed into that terminal, or, while something is in front there, into a new one. Never by itself. */
  const runAgain = async (workerId: string, command: string) => {
    const detail = await describeWorker(sessionId, workerId).catch(() => null)
    const busy = detail?.processes.some(({ foreground }) => foreground) ?? false
    const target = busy ? (await open.mutateAsync({ type: "terminal" })).id : workerId
    select(target)
    set.of(target).run(command)
  }

  /** In a new terminal, on a person's word. */
  const runNew = async (command: string) => {
    const { id } = await open.mutateAsync({ type: "terminal" })
    select(id)
    set.of(id).run(command)
  }

  const tabs: WorkerTabActions = {
    onSelect: select,
    onRename: (id, name) => patch.mutate({ id, name }),
    onClose: (worker) => void requestClose(worker),
    onMove: (id, position) => patch.mutate({ id, position }),
    renaming,
    onRenaming: setRenaming,
  }
  const failure = open.error ?? close.error ?? patch.error
  return {
    set,
    workers,
    left,
    right,
    active: focused === right?.id && right ? right.id : (left?.id ?? ""),
    unready: refusal ?? (executorStatus === "ready" ? null : (UNREADY[executorStatus ?? "none"] ?? "the executor is not ready")),
    tabs,
    openNew,
    canFork,
    fork,
    toggleSplit,
    setFocused,
    requestClose,
    runAgain,
    runNew,
    closing,
    stopClosing: () => setClosing(null),
    end,
    failure: failure ? errorSentence(failure) : null,
  }
}
export type WorkersPanel = ReturnType<typeof useWorkersPanel>
