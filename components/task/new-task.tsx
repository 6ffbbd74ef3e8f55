"use client"

import { useRouter } from "next/navigation"
import { type KeyboardEvent, useEffect, useRef, useState } from "react"
import { AttachButton } from "@/components/attachments/attach-button"
import { DraftCards } from "@/components/attachments/draft-cards"
import { useDraftAttachments } from "@/components/attachments/use-draft-attachments"
import { useFileDrop } from "@/components/attachments/use-file-drop"
import { PhoneBar } from "@/components/frame/phone-bar"
import { Button } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { FormError } from "@/components/ui/field"
import { Kbd } from "@/components/ui/kbd"
import { errorSentence } from "@/lib/client/error-sentence"
import { useAutoHeight, useDraft, useHydrated } from "@/lib/client/hooks"
import { useStandaloneRefusal } from "@/lib/client/queries/account"
import { useAgents } from "@/lib/client/queries/agents"
import { useCreateTask } from "@/lib/client/queries/tasks"
import { sessionPath } from "@/lib/client/session-phase"
import { isAppError } from "@/lib/contracts/errors"
import type { CreateTask } from "@/lib/contracts/task"
import { AgentPicker, comesBackSentence } from "./agent-picker"
import { ImportDialog } from "./import-dialog"
import { RepositoryInput } from "./repository-input"
import { RunRefused } from "./run-refused"
import { TypePicker } from "./type-picker"

const isRepositoryError = (error: unknown) =>
  isAppError(error) && (error.code === "WORKSPACE_NOT_FOUND" || error.code === "WORKSPACE_NOT_ALLOWED")

const ignore = () => {}

export function NewTask() {
  const router = useRouter()
  const hydrated = useHydrated()
  const field = useRef<HTMLTextAreaElement>(null)
  const [message, setMessage] = useDraft("rewake.draft.new")
  const attachments = useDraftAttachments("rewake.draft.new")
  const refusal = useStandaloneRefusal()
  const refused = typeof refusal === "string"
  const { over, onPaste } = useFileDrop(field, refused ? ignore : attachments.add)
  const [repository, setRepository] = useDraft("rewake.draft.new.repository")
  const [storedAgent, setAgent] = useDraft("rewake.last-agent")
  const [storedType, setType] = useDraft("rewake.last-type")
  const [missing, setMissing] = useState(false)
  const [importing, setImporting] = useState(false)
  const { data: agents } = useAgents()
  const create = useCreateTask()
  useAutoHeight(field, message)
  useEffect(() => field.current?.focus(), [])

  const available = agents?.filter((a) => a.available) ?? []
  const agent = available.find((a) => a.id === storedAgent) ?? available.find((a) => !a.id.startsWith("demo")) ?? available[0]
  const type: CreateTask["type"] = storedType === "code" ? "code" : "chat"
  const ready = (message.trim() !== "" || attachments.cards.length > 0) && attachments.settled
  const repositoryError =
    missing && repository.trim() === ""
      ? "A code task needs a repository."
      : isRepositoryError(create.error)
        ? errorSentence(create.error)
        : null

  const send = () => {
    if (!ready || create.isPending || !agent) return
    if (type === "code" && repository.trim() === "") return setMissing(true)
    const brought = attachments.cards.flatMap(({ state }) => (state.kind === "ready" ? [state.attachment.id] : []))
    create.mutate(
      {
        type,
        message,
        ...(brought.length > 0 ? { attachments: brought } : {}),
        agent: agent.id,
        ...(type === "code" ? { repository: repository.trim() } : {}),
      },
      {
        onSuccess: ({ session }) => {
          setMessage("")
          attachments.take()
          router.push(sessionPath(session))
        },
      },
    )
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }

  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      <PhoneBar title="New task" />
      <div className="mx-auto flex w-full max-w-[700px] flex-1 flex-col justify-center px-4.5 pt-6 pb-[14vh] phone:justify-start phone:pb-6">
        <h1 className="mb-4 font-[630] text-2xl tracking-[-0.02em]">What should be done?</h1>
        {refused && (
          <div className="mb-3">
            <RunRefused reason={refusal} kept="You can still open and read the tasks you have." />
          </div>
        )}
        <fieldset disabled={refused} className="min-w-0 disabled:opacity-50">
          <div
            data-drop={over || undefined}
            className="rounded-lg border border-line bg-raised shadow-[0_1px_2px_oklch(0_0_0/.06)] focus-within:border-[color-mix(in_oklab,var(--alive)_55%,var(--line))] data-drop:border-alive data-drop:border-dashed"
          >
            <DraftCards attachments={attachments} onLast={() => field.current?.focus()} />
            <textarea
              ref={field}
              value={message}
              onChange={(event) => setMessage(event.target.value)}
              onKeyDown={onKeyDown}
              onPaste={onPaste}
              rows={4}
              aria-label="What should be done?"
              placeholder="Fix the flaky checkout test. Find out why, don't just retry it."
              className="block max-h-[45dvh] min-h-28 w-full resize-none bg-transparent px-3.5 pt-3 text-l leading-[1.6] outline-none"
            />
            <div className="flex flex-wrap items-center gap-1.5 px-2 pt-1 pb-2">
              <TypePicker type={type} onChoose={setType} />
              {agent && <AgentPicker agent={agent.id} onChoose={setAgent} />}
              <AttachButton onFiles={attachments.add} />
              <Button look="primary" className="ml-auto" disabled={!hydrated || !ready || create.isPending || !agent} onClick={send}>
                {create.isPending ? "Starting…" : "Start"} <Kbd>↵</Kbd>
              </Button>
            </div>
          </div>
          {refusal === null && (
            <p className="mt-2 px-1 text-s text-text-3">
              Runs on this machine with the rights of the server's account: the agent and its terminals can read and change everything that
              account can.
            </p>
          )}
          <div className="mt-1 flex min-h-[18px] flex-wrap items-center gap-x-3 px-1 text-s text-text-3">
            <p>{agent && comesBackSentence[agent.comes_back]}</p>
            <button
              type="button"
              className="ml-auto underline-offset-2 hover:text-text hover:underline touch:min-h-11"
              onClick={() => setImporting(true)}
            >
              Import session…
            </button>
            {importing && <ImportDialog onClose={() => setImporting(false)} />}
          </div>
          <div className={cn("mt-3", type !== "code" && "hidden")}>
            <RepositoryInput value={repository} onChange={setRepository} error={repositoryError} />
          </div>
        </fieldset>
        {create.error && !repositoryError && (
          <div className="mt-3">
            <FormError>{errorSentence(create.error)}</FormError>
          </div>
        )}
        {agents && available.length === 0 && <FormError>No agent is available on this server. Ask an admin to install one.</FormError>}
      </div>
    </div>
  )
}
