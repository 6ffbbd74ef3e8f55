"use client"

import { ChevronDown } from "lucide-react"
import { InstallAgent, InstallFailure } from "@/components/agents/install-agent"
import { buttonClass } from "@/components/ui/button"
import { MenuContent, MenuLabel, MenuRadioGroup, MenuRadioItem, MenuRoot, MenuSeparator, MenuTrigger } from "@/components/ui/menu"
import { useMe } from "@/lib/client/queries/account"
import { useAgents } from "@/lib/client/queries/agents"
import type { AgentInfo } from "@/lib/contracts/agents"

/** What to expect of an agent when its process is gone. */
export const comesBackSentence: Record<AgentInfo["comes_back"], string> = {
  native: "Comes back with its own memory.",
  injected: "Comes back by reading the conversation again.",
  none: "Cannot come back: a lost process means a new session.",
}

export function AgentPicker({ agent, onChoose }: { agent: string; onChoose: (agent: string) => void }) {
  const { data: agents } = useAgents()
  const chosen = agents?.find((a) => a.id === agent)
  const here = agents?.filter((a) => a.available) ?? []
  const away = agents?.filter((a) => !a.available) ?? []
  return (
    <MenuRoot>
      <MenuTrigger className={buttonClass("quiet", "px-2")} aria-label={`Agent: ${chosen?.name ?? agent}`}>
        {chosen?.name ?? agent}
        <ChevronDown className="size-3.5 text-text-3" />
      </MenuTrigger>
      <MenuContent align="start" className="w-[min(400px,92vw)]">
        <MenuRadioGroup value={agent} onValueChange={onChoose}>
          {here.map((a) => (
            <MenuRadioItem key={a.id} value={a.id}>
              <span className="min-w-0">
                <span className="block font-[530]">{a.name}</span>
                {a.description && <span className="block text-s text-text-2">{a.description}</span>}
                <span className="block text-s text-text-3">{comesBackSentence[a.comes_back]}</span>
              </span>
            </MenuRadioItem>
          ))}
        </MenuRadioGroup>
        {away.length > 0 && (
          <>
            <MenuSeparator />
            <MenuLabel>Not on this machine</MenuLabel>
            {away.map((a) => (
              <AwayAgent key={a.id} agent={a} />
            ))}
          </>
        )}
      </MenuContent>
    </MenuRoot>
  )
}

function AwayAgent({ agent }: { agent: AgentInfo }) {
  const admin = useMe().data?.role === "admin"
  // One that only runs in a terminal has no session to come back to, but its own conversation: "cannot come back" would be untrue.
  const promises = agent.found === null && agent.installable && agent.comes_back !== "none"
  return (
    <div className="px-2 py-[5px]">
      <div className="flex items-center gap-3">
        <span className="min-w-0 flex-1 text-text-2">
          <span className="block font-[530]">{agent.name}</span>
          {agent.found === null && agent.description && <span className="block text-s">{agent.description}</span>}
          <span className="block text-s text-text-3">{promises ? comesBackSentence[agent.comes_back] : agent.unavailable_reason}</span>
        </span>
        {admin && agent.found === null && <InstallAgent agent={agent} />}
      </div>
      <InstallFailure agent={agent} />
    </div>
  )
}
