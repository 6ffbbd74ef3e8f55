"use client"

import { ChevronDown } from "lucide-react"
import { buttonClass } from "@/components/ui/button"
import { MenuContent, MenuRadioGroup, MenuRadioItem, MenuRoot, MenuTrigger } from "@/components/ui/menu"
import { useAgents } from "@/lib/client/queries/agents"
import type { AgentInfo } from "@/lib/contracts/task"

/** What to expect of an agent when its process is gone. */
export const comesBackSentence: Record<AgentInfo["comes_back"], string> = {
  native: "Comes back with its own memory.",
  injected: "Comes back by reading the conversation again.",
  none: "Cannot come back: a lost process means a new session.",
}

export function AgentPicker({ agent, onChoose }: { agent: string; onChoose: (agent: string) => void }) {
  const { data: agents } = useAgents()
  const chosen = agents?.find((a) => a.id === agent)
  return (
    <MenuRoot>
      <MenuTrigger className={buttonClass("quiet", "px-2")} aria-label={`Agent: ${chosen?.name ?? agent}`}>
        {chosen?.name ?? agent}
        <ChevronDown className="size-3.5 text-text-3" />
      </MenuTrigger>
      <MenuContent align="start" className="w-[min(360px,92vw)]">
        <MenuRadioGroup value={agent} onValueChange={onChoose}>
          {agents?.map((a) => (
            <MenuRadioItem key={a.id} value={a.id} disabled={!a.available}>
              <span className="min-w-0">
                <span className="block font-[530]">{a.name}</span>
                <span className="block text-s text-text-2">
                  {a.available ? a.description : (a.unavailable_reason ?? "Not available on this server.")}
                </span>
                {a.available && <span className="block text-s text-text-3">{comesBackSentence[a.comes_back]}</span>}
              </span>
            </MenuRadioItem>
          ))}
        </MenuRadioGroup>
      </MenuContent>
    </MenuRoot>
  )
}
