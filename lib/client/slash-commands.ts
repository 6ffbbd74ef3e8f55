import type { AgentCommand } from "@/lib/contracts/agent-setup"

/** What a message that begins like a command could become; null when it does not, or is past its name. */
export function matchingCommands(draft: string, commands: readonly AgentCommand[]): readonly AgentCommand[] | null {
  const [, typed] = /^\/(\S*)$/.exec(draft) ?? []
  if (typed === undefined) return null
  const wanted = typed.toLowerCase()
  const starts = commands.filter(({ name }) => name.toLowerCase().startsWith(wanted))
  const holds = commands.filter((command) => !starts.includes(command) && command.name.toLowerCase().includes(wanted))
  return [...starts, ...holds]
}

/** One that takes words is left open for them. */
export const draftOf = ({ name, hint }: AgentCommand): string => (hint === null ? `/${name}` : `/${name} `)
