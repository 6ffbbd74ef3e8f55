"use client"

import { type FormEvent, useId } from "react"
import { Button } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { Field, FormError } from "@/components/ui/field"
import { errorSentence } from "@/lib/client/error-sentence"
import { formatFull } from "@/lib/client/format"
import { usePutVariable } from "@/lib/client/queries/agents"
import type { AgentSettings } from "@/lib/contracts/agents"

/** What this agent alone gets in its environment. Values go in and never come out. */
export function VariablesDialog({ agent, onClose }: { agent: AgentSettings; onClose: () => void }) {
  const put = usePutVariable()
  const suggestions = useId()
  const unset = agent.keys.filter((key) => !agent.variables.some(({ name }) => name === key))
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const element = event.currentTarget
    const form = new FormData(element)
    put.mutate(
      { id: agent.id, name: String(form.get("name")).trim(), value: String(form.get("value")) },
      { onSuccess: () => element.reset() },
    )
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Keys of ${agent.name}`}
      description="Variables in its environment from its next start on. Stored encrypted; nobody can read them back here."
    >
      {agent.variables.length > 0 && (
        <ul className="mt-3 divide-y divide-line-soft border-line-soft border-y">
          {agent.variables.map(({ name, updated_at }) => (
            <li key={name} className="flex items-center gap-3 py-1.5">
              <code className="min-w-0 flex-1 truncate font-mono text-s">{name}</code>
              <span className="text-s text-text-3">set {formatFull(updated_at)}</span>
              <Button
                look="quiet"
                disabled={put.isPending}
                onClick={() => put.mutate({ id: agent.id, name, value: null })}
                aria-label={`Take ${name} away`}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <form onSubmit={submit} className="mt-3 flex flex-col gap-2.5">
        <Field
          label="Name"
          name="name"
          required
          maxLength={100}
          pattern="[A-Za-z_][A-Za-z0-9_]*"
          list={suggestions}
          defaultValue={unset[0] ?? ""}
          autoComplete="off"
          spellCheck={false}
        />
        <datalist id={suggestions}>
          {unset.map((key) => (
            <option key={key} value={key} />
          ))}
        </datalist>
        <Field label="Value" name="value" type="password" required autoComplete="new-password" />
        {put.error && <FormError>{errorSentence(put.error)}</FormError>}
        <DialogActions>
          <Button onClick={onClose}>Done</Button>
          <Button type="submit" look="primary" disabled={put.isPending}>
            Set
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
