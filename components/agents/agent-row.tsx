"use client"

import { useState } from "react"
import { Button } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { useRemoveAgent } from "@/lib/client/queries/agents"
import type { AgentSettings } from "@/lib/contracts/agents"
import { AgentForm } from "./agent-form"
import { InstallAgent, InstallFailure } from "./install-agent"
import { VariablesDialog } from "./variables-dialog"

const foundWords = { built_in: "comes with Rewake", path: "on PATH", installed: "installed from npm" } as const
const comesBackWords = {
  native: "Comes back with its own memory",
  injected: "Comes back by reading the conversation",
  none: "Cannot come back",
} as const

/** What is worth knowing of it here and now: what it does when it is lost, of one that is not here also what it is; else why it cannot be used. */
function rowWords(agent: AgentSettings): string {
  if (agent.available) return `${comesBackWords[agent.comes_back]}${agent.comes_back_by === "observed" ? ", as it says itself" : ""}`
  if (agent.found === null && agent.description)
    return agent.comes_back === "none" ? agent.description : `${agent.description} ${comesBackWords[agent.comes_back]}.`
  return agent.unavailable_reason ?? ""
}

type Open = "keys" | "edit" | "remove" | null

export function AgentRow({ agent }: { agent: AgentSettings }) {
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const { found, definition, variables } = agent
  return (
    <li className="py-2.5" aria-label={agent.name}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <div className="min-w-0 flex-1 basis-60">
          <div className="flex items-baseline gap-2">
            <span className={cn("truncate font-[530]", found === null && "text-text-2")}>{agent.name}</span>
            <span className={cn("text-s", found === "path" || found === "installed" ? "text-alive" : "text-text-3")}>
              {found === null ? "not on this machine" : foundWords[found]}
            </span>
          </div>
          <div className="text-s text-text-3">
            {rowWords(agent)}
            {variables.length > 0 && ` · ${variables.map(({ name }) => name).join(", ")} set`}
          </div>
        </div>
        <div className="flex items-center gap-1">
          {found !== "path" && <InstallAgent agent={agent} again={found === "installed"} />}
          {found !== "built_in" && (
            <Button look="quiet" onClick={() => setOpen("keys")} aria-label={`Keys of ${agent.name}`}>
              Keys…
            </Button>
          )}
          {definition && (
            <>
              <Button look="quiet" onClick={() => setOpen("edit")} aria-label={`Edit ${agent.name}`}>
                Edit…
              </Button>
              <Button look="quiet" onClick={() => setOpen("remove")} aria-label={`Remove ${agent.name}`}>
                Remove…
              </Button>
            </>
          )}
        </div>
      </div>
      <InstallFailure agent={agent} />
      {open === "keys" && <VariablesDialog agent={agent} onClose={close} />}
      {open === "edit" && definition && <AgentForm agent={definition} onClose={close} />}
      {open === "remove" && <RemoveDialog agent={agent} onClose={close} />}
    </li>
  )
}

function RemoveDialog({ agent, onClose }: { agent: AgentSettings; onClose: () => void }) {
  const remove = useRemoveAgent()
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Remove ${agent.name}?`}
      description="Its keys are deleted. Sessions it worked in stay readable, but it cannot be started in them any more."
    >
      <DialogActions>
        <Button onClick={onClose}>Keep</Button>
        <Button look="danger" disabled={remove.isPending} onClick={() => remove.mutate(agent.id, { onSuccess: onClose })}>
          Remove
        </Button>
      </DialogActions>
    </Dialog>
  )
}
