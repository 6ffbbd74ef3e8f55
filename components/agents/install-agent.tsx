"use client"

import { Button } from "@/components/ui/button"
import { ProgressBar } from "@/components/ui/progress-bar"
import { useInstallAgent } from "@/lib/client/queries/agents"
import type { AgentInfo } from "@/lib/contracts/agents"

/** Brings an agent from npm, when somebody asks for it, and shows how far that is. */
export function InstallAgent({ agent, again = false }: { agent: AgentInfo; again?: boolean }) {
  const install = useInstallAgent()
  const { install: state } = agent
  if (!agent.installable) return null
  if (state?.state === "running") {
    return (
      <div className="w-40 shrink-0" role="status">
        <div className="flex justify-between text-s text-text-3">
          <span>{state.step}</span>
          {state.percent !== null && <span className="tabular-nums">{state.percent}%</span>}
        </div>
        <ProgressBar label={`Installing ${agent.name}`} percent={state.percent ?? 0} />
      </div>
    )
  }
  return (
    <Button
      disabled={install.isPending}
      onClick={() => install.mutate(agent.id)}
      aria-label={`${again ? "Install again" : "Install"} ${agent.name}`}
    >
      {again ? "Install again" : "Install"}
    </Button>
  )
}

/** Why it did not work, below whatever row it belongs to. */
export function InstallFailure({ agent }: { agent: AgentInfo }) {
  if (agent.install?.state !== "failed") return null
  return (
    <p role="alert" className="mt-1 break-words text-bad text-s">
      It could not be installed. {agent.install.message}
    </p>
  )
}
