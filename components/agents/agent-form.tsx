"use client"

import { type ComponentProps, type FormEvent, useState } from "react"
import { Button } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { CheckField, Field, FormError } from "@/components/ui/field"
import { joinCommandLine, splitCommandLine } from "@/lib/client/command-line"
import { errorSentence } from "@/lib/client/error-sentence"
import { useSaveAgent } from "@/lib/client/queries/agents"
import { CustomAgent } from "@/lib/contracts/agents"

const lineOf = (program: { command: string; args: string[] } | null | undefined) =>
  program ? joinCommandLine([program.command, ...program.args]) : ""
const programOf = (line: string) => {
  const [command, ...args] = splitCommandLine(line)
  return command === undefined ? null : { command, args }
}
const idOf = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 63)

/** Adds an agent of one's own, or changes one. */
export function AgentForm({ agent, onClose }: { agent: CustomAgent | null; onClose: () => void }) {
  const save = useSaveAgent()
  const [problem, setProblem] = useState<string | null>(null)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? "").trim()
    const terminal = programOf(text("terminal"))
    const parsed = CustomAgent.safeParse({
      id: agent?.id ?? idOf(text("name")),
      name: text("name"),
      description: text("description"),
      acp: programOf(text("acp")),
      terminal: terminal && {
        ...terminal,
        begin_args: splitCommandLine(text("begin")),
        continue_args: splitCommandLine(text("continue")),
        fork_args: splitCommandLine(text("fork")),
      },
      history_context_injection: form.get("inject") === "on",
    })
    if (!parsed.success) return setProblem(parsed.error.issues.map(({ path, message }) => `${path.join(" ")} ${message}`.trim()).join("; "))
    setProblem(null)
    save.mutate({ agent: parsed.data, isNew: agent === null }, { onSuccess: onClose })
  }
  const error = problem ?? (save.error ? errorSentence(save.error) : null)
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={agent ? `Edit ${agent.name}` : "Add an agent"}>
      <form onSubmit={submit} className="mt-2 flex flex-col gap-2.5">
        <Field label="Name" name="name" required maxLength={80} defaultValue={agent?.name} placeholder="My agent" />
        <Field label="Description" name="description" maxLength={300} defaultValue={agent?.description} />
        <CommandField
          label="Command that speaks the Agent Client Protocol"
          name="acp"
          defaultValue={lineOf(agent?.acp)}
          placeholder="my-agent --acp"
        />
        <CommandField label="Command for a terminal" name="terminal" defaultValue={lineOf(agent?.terminal)} placeholder="my-agent" />
        <CommandField
          label="…and to begin a conversation there"
          name="begin"
          defaultValue={joinCommandLine(agent?.terminal?.begin_args ?? [])}
          placeholder="--session-id {id}"
          hint="Added to the terminal command. {id} is a UUID of the tab's own."
        />
        <CommandField
          label="…to continue it when the tab comes back"
          name="continue"
          defaultValue={joinCommandLine(agent?.terminal?.continue_args ?? [])}
          placeholder="--resume {id}"
          hint="Without {id}: what continues the newest conversation of a folder."
        />
        <CommandField
          label="…to fork it into another tab"
          name="fork"
          defaultValue={joinCommandLine(agent?.terminal?.fork_args ?? [])}
          placeholder="--resume {from} --fork --session-id {id}"
        />
        <CheckField
          name="inject"
          defaultChecked={agent?.history_context_injection ?? true}
          label="When it cannot load its own session, hand it the conversation"
        />
        {error && <FormError>{error}</FormError>}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={save.isPending}>
            {agent ? "Save" : "Add"}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

const CommandField = (props: ComponentProps<typeof Field>) => (
  <Field {...props} spellCheck={false} className="[&_input]:font-mono [&_input]:text-s" />
)
