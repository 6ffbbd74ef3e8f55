import { existsSync, mkdirSync, statSync } from "node:fs"
import { join } from "node:path"
import type { AgentFile, CarriedConversation } from "../../../lib/contracts/agentctl/archive"
import { runAgentCommand } from "../agent-command"
import type { Missing } from "./left-out"

type Place = { dataDir: string; cwd: string }

/** Conversations an agent keeps in a database of its own, each as a file beside the others. One that is not given is named, and costs nothing else. */
export async function exportConversations(
  carried: readonly CarriedConversation[],
  folder: string,
  place: Place,
): Promise<{ files: AgentFile[]; failed: Missing[] }> {
  const files: AgentFile[] = []
  const failed: Missing[] = []
  if (carried.length > 0) mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const { command, as } of carried) {
    const path = join(folder, as)
    const failure = await runAgentCommand(command, { ...place, file: path, output: path })
    if (failure === null && statSync(path).size > 0) files.push({ path, as })
    else failed.push({ path: `agent/${as}`, reason: "agent_command" })
  }
  return { files, failed }
}

/** Reads back what the archive holds of them; what the agent would not take is told. Doing it twice changes nothing. */
export async function importConversations(carried: readonly CarriedConversation[], unpacked: string, place: Place): Promise<string[]> {
  const notes: string[] = []
  for (const { command, as } of carried) {
    const file = join(unpacked, as)
    if (!existsSync(file)) continue
    const failure = await runAgentCommand(command, { ...place, file, output: "/dev/null" })
    if (failure !== null) notes.push(`The agent did not take its conversation back: it ${failure}`)
  }
  return notes
}
