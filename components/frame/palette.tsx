"use client"

import * as Radix from "@radix-ui/react-dialog"
import { Command } from "cmdk"
import { Archive, FileInput, Keyboard, LogOut, MonitorDot, Moon, Plus, RotateCcw, ScrollText, Settings, Users } from "lucide-react"
import { useRouter } from "next/navigation"
import { PhaseGlyph } from "@/components/task/phase-glyph"
import { veilClass } from "@/components/ui/dialog"
import { useMe } from "@/lib/client/queries/account"
import { useAgentName } from "@/lib/client/queries/agents"
import { ALL_TASKS, useTasks } from "@/lib/client/queries/tasks"
import { phaseOf, sessionPath, taskPath, taskPhase } from "@/lib/client/session-phase"
import { chooseTheme } from "@/lib/client/theme"
import { leave } from "./leave"

const itemClass =
  "flex items-center gap-2.5 rounded-sm px-2.5 py-[7px] data-[selected=true]:bg-hover touch:min-h-11 [&>svg]:size-3.5 [&>svg]:shrink-0"
const groupClass =
  "[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-text-3"

type PaletteProps = { open: boolean; onOpenChange: (open: boolean) => void; onShowKeys: () => void; onImport: () => void }

export function Palette({ open, onOpenChange, onShowKeys, onImport }: PaletteProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={veilClass} />
        <Radix.Content
          aria-describedby={undefined}
          className="-translate-x-1/2 fixed top-[14vh] left-1/2 z-50 w-[min(580px,calc(100vw-24px))] overflow-hidden rounded-xl border border-line bg-raised shadow-pop outline-none data-[state=open]:animate-[appear_.12s_ease-out] phone:top-3"
        >
          <Radix.Title className="sr-only">Go to a task or action</Radix.Title>
          <PaletteBody close={() => onOpenChange(false)} onShowKeys={onShowKeys} onImport={onImport} />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

type BodyProps = Pick<PaletteProps, "onShowKeys" | "onImport"> & { close: () => void }

function PaletteBody({ close, onShowKeys, onImport }: BodyProps) {
  const router = useRouter()
  const { data: tasks = [] } = useTasks(ALL_TASKS)
  const me = useMe().data
  const agentName = useAgentName()
  const go = (path: string) => () => {
    close()
    router.push(path)
  }
  const act = (action: () => void) => () => {
    close()
    action()
  }
  const light = () => document.documentElement.dataset.theme === "light"
  return (
    <Command label="Go to a task or action" loop>
      <Command.Input
        placeholder="Go to a task, a session, an action…"
        className="w-full border-line-soft border-b bg-transparent px-4 py-3 text-l outline-none"
      />
      <Command.List className="max-h-[min(400px,60dvh)] overflow-y-auto p-1.5">
        <Command.Empty className="px-2.5 py-6 text-center text-text-3">Nothing found.</Command.Empty>
        <Command.Group heading="Tasks" className={groupClass}>
          {tasks.map((task) => (
            <Command.Item
              key={task.id}
              value={`task ${task.id}`}
              keywords={[task.title]}
              onSelect={go(taskPath(task))}
              className={itemClass}
            >
              <PhaseGlyph phase={taskPhase(task)} />
              <span className="truncate">{task.title}</span>
              <span className="ml-auto shrink-0 font-mono text-text-3 text-xs">#{task.id}</span>
            </Command.Item>
          ))}
        </Command.Group>
        <Command.Group heading="Sessions" className={groupClass}>
          {tasks
            .filter((task) => task.sessions.length > 1)
            .flatMap((task) => task.sessions.map((session) => ({ task, session })))
            .map(({ task, session }) => (
              <Command.Item
                key={session.id}
                value={session.id}
                keywords={[task.title, agentName(session.agent)]}
                onSelect={go(sessionPath(session))}
                className={itemClass}
              >
                <PhaseGlyph phase={phaseOf(session)} />
                <span className="truncate">{agentName(session.agent)}</span>
                <span className="truncate text-text-3">{task.title}</span>
              </Command.Item>
            ))}
        </Command.Group>
        <Command.Group heading="Actions" className={groupClass}>
          <Command.Item value="new task" onSelect={go("/tasks/new")} className={itemClass}>
            <Plus /> New task
          </Command.Item>
          <Command.Item value="import session file tar" onSelect={act(onImport)} className={itemClass}>
            <FileInput /> Import session…
          </Command.Item>
          <Command.Item
            value="settings password api tokens signed-in browsers git credentials"
            onSelect={go("/settings")}
            className={itemClass}
          >
            <Settings /> Settings
          </Command.Item>
          {me?.role === "admin" && (
            <>
              <Command.Item value="admin sessions all status" onSelect={go("/admin/sessions")} className={itemClass}>
                <MonitorDot /> All sessions
              </Command.Item>
              <Command.Item value="admin recoveries boots restarts" onSelect={go("/admin/recoveries")} className={itemClass}>
                <RotateCcw /> Recoveries
              </Command.Item>
              <Command.Item value="admin archives storage put away expired" onSelect={go("/admin/archives")} className={itemClass}>
                <Archive /> Archives
              </Command.Item>
              <Command.Item value="admin users invite" onSelect={go("/admin/users")} className={itemClass}>
                <Users /> Users
              </Command.Item>
              <Command.Item value="admin security log audit sign-ins" onSelect={go("/admin/audit")} className={itemClass}>
                <ScrollText /> Security log
              </Command.Item>
            </>
          )}
          <Command.Item value="switch theme light dark" onSelect={act(() => chooseTheme(light() ? "dark" : "light"))} className={itemClass}>
            <Moon /> Switch theme
          </Command.Item>
          <Command.Item value="keys shortcuts" onSelect={act(onShowKeys)} className={itemClass}>
            <Keyboard /> Show keys
          </Command.Item>
          <Command.Item value="sign out" onSelect={act(() => void leave())} className={itemClass}>
            <LogOut /> Sign out
          </Command.Item>
        </Command.Group>
      </Command.List>
    </Command>
  )
}
