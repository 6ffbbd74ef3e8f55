import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { type AgentDefinition, defineAgent } from "../agent"

const DEMO_ID = /^demo_[a-f0-9-]{36}$/
/** One file per conversation. */
const ownFile: AgentDefinition["session_files"] = (id, { data_dir }) => [
  { path: join(data_dir, "demo-agent", `${id}.jsonl`), as: `${id}.jsonl` },
]

/** The agents that ship with Rewake, one for each way of coming back. `programs` is the folder this build's own programs run from. */
export function demoAgents({ programs, node }: { programs: string; node: string }): AgentDefinition[] {
  const script = join(programs, "demo-agent.mjs")
  const variant = (id: string) => ({ program: node, args: [script, "--variant", id] })
  return [
    defineAgent({
      id: "demo",
      name: "Demo",
      description: "Ships with Rewake. Needs no model and no account.",
      acp: variant("demo"),
      terminal: {
        program: node,
        args: [script, "--terminal"],
        begin: ["--session-id", "{id}"],
        again: ["--resume", "{id}"],
        newest: ["--continue"],
        fork: ["--fork", "{from}", "--session-id", "{id}"],
        newId: () => `demo_${randomUUID()}`,
      },
      native_session_resume: true,
      history_context_injection: false,
      conversation: DEMO_ID,
      session_files: ownFile,
    }),
    defineAgent({
      id: "demo-inject",
      name: "Demo, injected",
      description: "Cannot load its own session; history is handed to it.",
      acp: variant("demo-inject"),
      native_session_resume: false,
      history_context_injection: true,
    }),
    defineAgent({
      id: "demo-forgetful",
      name: "Demo, forgetful",
      description: "Cannot come back at all.",
      acp: variant("demo-forgetful"),
      native_session_resume: false,
      history_context_injection: false,
    }),
  ]
}
