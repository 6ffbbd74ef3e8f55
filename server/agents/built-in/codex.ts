import { join } from "node:path"
import { defineAgent } from "../agent"

const ID = /^[0-9a-f-]{36}$/i

export const codex = defineAgent({
  id: "codex",
  name: "Codex",
  description: "OpenAI's coding agent.",
  acp: { program: "codex-acp", args: [] },
  terminal: { program: "codex", args: [], again: ["resume", "--last"] },
  packages: [
    { name: "@agentclientprotocol/codex-acp", version: "2.6.0" },
    { name: "@openai/codex", version: "0.166.0" },
  ],
  keys: ["OPENAI_API_KEY", "CODEX_API_KEY"],
  native_session_resume: true,
  history_context_injection: true,
  /** One file per conversation, in folders by day, so that its path is known by its ending only. */
  session_files: (id, { home, env }) =>
    ID.test(id) ? [{ path: join(env.CODEX_HOME ?? join(home, ".codex"), "sessions"), as: "sessions", ending: `-${id}.jsonl` }] : [],
  trouble: [{ says: /no rollout found/i, means: "unknown_session" }],
})
