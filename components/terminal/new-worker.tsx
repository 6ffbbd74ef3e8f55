"use client"

import { Bot, Plus, SquareTerminal } from "lucide-react"
import { IconButton } from "@/components/ui/button"
import { MenuContent, MenuItem, MenuLabel, MenuRoot, MenuSeparator, MenuTrigger } from "@/components/ui/menu"
import { useAgents } from "@/lib/client/queries/agents"

/** Opens a terminal, or an agent in one. `unready`: why there is no place for it now. */
export function NewWorker({ unready, onOpen }: { unready: string | null; onOpen: (type: "terminal" | "agent", agent?: string) => void }) {
  const { data: agents } = useAgents()
  const terminalAgents = agents?.filter((agent) => agent.terminal) ?? []
  const label = unready ? `New terminal: ${unready}` : "New terminal"
  return (
    <MenuRoot>
      {/* A disabled button takes no pointer, and so would show no title of its own. */}
      <span title={label} className="flex self-center">
        <MenuTrigger asChild>
          <IconButton label={label} disabled={unready !== null} className="size-6">
            <Plus className="size-3.5" />
          </IconButton>
        </MenuTrigger>
      </span>
      <MenuContent align="start">
        <MenuItem onSelect={() => onOpen("terminal")}>
          <SquareTerminal /> Terminal
        </MenuItem>
        {terminalAgents.length > 0 && (
          <>
            <MenuSeparator />
            <MenuLabel>Agents in a terminal</MenuLabel>
            {terminalAgents.map((agent) => (
              <MenuItem key={agent.id} onSelect={() => onOpen("agent", agent.id)}>
                <Bot /> {agent.name}
              </MenuItem>
            ))}
          </>
        )}
      </MenuContent>
    </MenuRoot>
  )
}
