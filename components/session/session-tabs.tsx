"use client"

import { Plus } from "lucide-react"
import Link from "next/link"
import { useRouter } from "next/navigation"
import { Fragment, useEffect, useRef, useState } from "react"
import { PhaseGlyph } from "@/components/task/phase-glyph"
import { NewWorker } from "@/components/terminal/new-worker"
import type { WorkersPanel } from "@/components/terminal/use-workers-panel"
import { WorkerTab } from "@/components/terminal/worker-tab"
import { IconButton } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { MenuCheckboxItem, MenuContent, MenuItem, MenuLabel, MenuRoot, MenuSeparator, MenuTrigger } from "@/components/ui/menu"
import { useStandaloneRefusal } from "@/lib/client/queries/account"
import { useAgentName, useAgents } from "@/lib/client/queries/agents"
import { useCreateSession } from "@/lib/client/queries/tasks"
import { phaseOf, phaseWord, sessionPath } from "@/lib/client/session-phase"
import { isPutAway } from "@/lib/client/task-restore"
import type { AgentInfo } from "@/lib/contracts/agents"
import type { SessionView, TaskView } from "@/lib/contracts/task"
import { SESSION_TABS, type SessionTab, type WorkerTab as WorkerTabName } from "./use-session-tab"

/** `count` stands beside its word; `disabled` says why it cannot be opened yet. */
type TabState = { count?: number | undefined; disabled?: string | undefined }
type SessionTabsProps = {
  task: TaskView | undefined
  sessionId: string
  tab: SessionTab
  states?: Partial<Record<ViewTab, TabState>>
  onTab?: (tab: SessionTab) => void
  /** The session's terminals, between the chat and the rest. */
  terminals?: WorkersPanel
}

export function SessionTabs({ task, sessionId, tab, states, onTab, terminals }: SessionTabsProps) {
  const list = useRef<HTMLDivElement>(null)
  // A narrow screen shows a part of them.
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }, [tab])
  return (
    <div className="flex h-[38px] shrink-0 items-stretch gap-3 border-line-soft border-b px-3.5 touch:h-[52px] phone:h-auto! phone:flex-col-reverse phone:gap-0 phone:px-2">
      <div className="flex min-w-0 shrink items-stretch gap-1 phone:h-11">
        <div
          ref={list}
          role="tablist"
          aria-label="Views"
          className="flex min-w-0 gap-0.5 overflow-x-auto overflow-y-hidden [scrollbar-width:none] phone:flex-1 phone:gap-0"
        >
          {SESSION_TABS.map((name) => (
            <Fragment key={name}>
              <Tab name={name} selected={name === tab} state={states?.[name] ?? {}} onTab={onTab} />
              {name === "chat" &&
                terminals?.workers.map((worker, place) => (
                  <WorkerTab
                    key={worker.id}
                    worker={worker}
                    place={place}
                    selected={worker.id === tab || worker.id === terminals.right?.id}
                    set={terminals.set}
                    actions={terminals.tabs}
                    onArrow={toNeighbour}
                  />
                ))}
            </Fragment>
          ))}
        </div>
        {terminals && <NewWorker unready={terminals.unready} onOpen={terminals.openNew} />}
      </div>
      <nav
        aria-label="Sessions"
        className="ml-auto flex min-w-0 items-center gap-1 overflow-x-auto [scrollbar-width:none] phone:ml-0 phone:h-11 phone:shrink-0 phone:border-line-soft phone:border-b"
      >
        {task &&
          [...task.sessions]
            .sort((a, b) => a.created_at.localeCompare(b.created_at))
            .map((session) => <SessionChip key={session.id} session={session} current={session.id === sessionId} />)}
        {task && <NewSession taskId={task.id} fromSessionId={sessionId} asleep={isAsleep(task, sessionId)} />}
      </nav>
    </div>
  )
}

/** A session begins in the workspace of another: not while that is put away. */
const isAsleep = (task: TaskView, sessionId: string) =>
  task.sessions.some((session) => session.id === sessionId && isPutAway(session.executor_status))

type ViewTab = Exclude<SessionTab, WorkerTabName>
const tabWord: Record<ViewTab, string> = { chat: "Chat", changes: "Changes", files: "Files", timeline: "Timeline" }

function toNeighbour(event: React.KeyboardEvent<HTMLElement>): void {
  if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return
  const beside = event.key === "ArrowRight" ? event.currentTarget.nextElementSibling : event.currentTarget.previousElementSibling
  if (!(beside instanceof HTMLElement)) return
  beside.focus()
  beside.click()
}

type TabProps = { name: ViewTab; selected: boolean; state: TabState; onTab: SessionTabsProps["onTab"] }

function Tab({ name, selected, state, onTab }: TabProps) {
  const disabled = state.disabled !== undefined && !selected
  return (
    <button
      type="button"
      role="tab"
      aria-selected={selected}
      // In the outline of a page that is still loading: a click would be lost.
      disabled={onTab === undefined}
      tabIndex={selected ? 0 : -1}
      aria-disabled={disabled || undefined}
      title={disabled ? state.disabled : undefined}
      onClick={() => !disabled && onTab?.(name)}
      onKeyDown={toNeighbour}
      className={cn(
        "-mb-px flex shrink-0 items-center border-b-2 px-[9px] phone:min-w-11 phone:justify-center phone:px-2",
        selected ? "border-alive font-[530] text-text" : "border-transparent text-text-3 hover:text-text",
        disabled && "opacity-50 hover:text-text-3",
      )}
    >
      {tabWord[name]}
      {state.count !== undefined && state.count > 0 && (
        <span className="ml-1.5 rounded-full bg-hover px-1.5 text-text-2 text-xs tabular-nums">{state.count}</span>
      )}
    </button>
  )
}

function SessionChip({ session, current }: { session: SessionView; current: boolean }) {
  const agentName = useAgentName()
  const phase = phaseOf(session)
  return (
    <Link
      href={sessionPath(session)}
      title={`${agentName(session.agent)}: ${phaseWord[phase]}`}
      aria-current={current ? "page" : undefined}
      className={cn(
        "flex shrink-0 items-center gap-1.5 rounded-full border border-line px-[9px] py-[2px] text-s hover:text-text touch:min-h-9 touch:px-3",
        current ? "bg-hover text-text" : "text-text-2",
      )}
    >
      <PhaseGlyph phase={phase} size={11} />
      {agentName(session.agent)}
    </Link>
  )
}

function NewSession({ taskId, fromSessionId, asleep }: { taskId: number; fromSessionId: string; asleep: boolean }) {
  const router = useRouter()
  const create = useCreateSession(taskId)
  const { data: agents } = useAgents()
  const [handOver, setHandOver] = useState(true)
  const unready = useStandaloneRefusal() ?? (asleep ? "continue the task first" : null)
  const start = (agent: string) =>
    create.mutate(handOver ? { agent, from_session_id: fromSessionId } : { agent }, {
      onSuccess: (session) => router.push(sessionPath(session)),
    })
  const words = (agent: AgentInfo) => {
    if (!agent.available) return agent.unavailable_reason
    return handOver && agent.takes_history ? "Reads this conversation first." : "Begins without this conversation."
  }
  return (
    <MenuRoot>
      <MenuTrigger asChild>
        <IconButton
          label={unready ? `New session: ${unready}` : "New session"}
          disabled={create.isPending || unready !== null}
          className="size-6"
        >
          <Plus className="size-3.5" />
        </IconButton>
      </MenuTrigger>
      <MenuContent align="end" className="w-[min(320px,92vw)]">
        <MenuCheckboxItem checked={handOver} onCheckedChange={setHandOver}>
          Hand over this conversation
        </MenuCheckboxItem>
        <MenuSeparator />
        <MenuLabel>New session of this task with</MenuLabel>
        {agents?.map((agent) => (
          <MenuItem key={agent.id} disabled={!agent.available} onSelect={() => start(agent.id)}>
            <span className="min-w-0">
              <span className="block font-[530]">{agent.name}</span>
              <span className="block text-s text-text-3">{words(agent)}</span>
            </span>
          </MenuItem>
        ))}
      </MenuContent>
    </MenuRoot>
  )
}
