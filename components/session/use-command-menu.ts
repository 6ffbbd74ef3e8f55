import { type KeyboardEvent, useId, useState } from "react"
import { draftOf, matchingCommands } from "@/lib/client/slash-commands"
import type { AgentCommand } from "@/lib/contracts/agent-setup"

const MOVES: Partial<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

/** The agent's own commands, offered while a message begins like one. The field keeps the focus. */
export function useCommandMenu(draft: string, onDraft: (text: string) => void, commands: readonly AgentCommand[]) {
  const id = useId()
  /** Another letter, another list: it begins at its first again. */
  const [at, setAt] = useState({ draft: "", index: 0 })
  /** What was typed when the menu was closed: it stays away until that changes. */
  const [closedFor, setClosedFor] = useState<string | null>(null)
  const matches = closedFor === draft ? null : matchingCommands(draft, commands)
  // A whole command with nothing to add is a message: Enter sends it.
  const open = matches !== null && matches.length > 0 && !(matches.length === 1 && matches[0] && draftOf(matches[0]) === draft)
  const shown = open ? matches : []
  const active = at.draft === draft ? at.index : 0

  const choose = (command: AgentCommand) => {
    onDraft(draftOf(command))
    setClosedFor(draftOf(command))
  }
  /** True when the key was meant for the menu. */
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!open) return false
    const move = MOVES[event.key]
    const chosen = shown[active]
    if (move !== undefined) setAt({ draft, index: (active + move + shown.length) % shown.length })
    else if (event.key === "Escape") setClosedFor(draft)
    else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && chosen) choose(chosen)
    else return false
    event.preventDefault()
    // The page's own Escape interrupts the agent.
    event.stopPropagation()
    return true
  }
  const idOf = (index: number) => `${id}-${index}`
  return {
    commands: shown,
    active,
    choose,
    onKeyDown,
    idOf,
    listId: id,
    field: open
      ? ({ "aria-autocomplete": "list", "aria-haspopup": "listbox", "aria-controls": id, "aria-activedescendant": idOf(active) } as const)
      : {},
  }
}
export type CommandMenuState = ReturnType<typeof useCommandMenu>
