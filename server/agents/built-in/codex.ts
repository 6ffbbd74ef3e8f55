import { join } from "node:path"
import { type AgentPlace, defineAgent, UUID } from "../agent"

const sessionsOf = ({ home, env }: AgentPlace) => join(env.CODEX_HOME ?? join(home, ".codex"), "sessions")

export const codex = defineAgent({
  id: "codex",
  name: "Codex",
  description: "OpenAI's coding agent.",
  acp: { program: "codex-acp", args: [] },
  terminal: {
    program: "codex",
    // A server that several tabs share would end with the tab that happened to start it.
    args: ["-c", "features.daemon_auto_start=false"],
    begin: [],
    again: ["resume", "--", "{id}"],
    newest: ["resume", "--last"],
    fork: ["fork", "--", "{from}"],
    traces: (place) => ({ folder: sessionsOf(place), name: "^rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\\.jsonl$" }),
  },
  packages: [
    { name: "@agentclientprotocol/codex-acp", version: "2.6.0" },
    { name: "@openai/codex", version: "0.166.0" },
  ],
  keys: ["OPENAI_API_KEY", "CODEX_API_KEY"],
  native_session_resume: true,
  history_context_injection: true,
  conversation: UUID,
  /** One file per conversation, in folders by day, so that its path is known by its ending only. */
  session_files: (id, place) => [{ path: sessionsOf(place), as: "sessions", ending: `-${id}.jsonl` }],
  trouble: [{ says: /no rollout found/i, means: "unknown_session" }],
})
