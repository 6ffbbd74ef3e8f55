import { join } from "node:path"
import { defineAgent, UUID } from "../agent"

export const claudeCode = defineAgent({
  id: "claude-code",
  name: "Claude Code",
  description: "Anthropic's coding agent.",
  acp: { program: "claude-agent-acp", args: [] },
  terminal: {
    program: "claude",
    args: [],
    begin: ["--session-id", "{id}"],
    again: ["--resume", "{id}"],
    newest: ["--continue"],
    fork: ["--resume", "{from}", "--fork-session", "--session-id", "{id}"],
  },
  packages: [
    { name: "@agentclientprotocol/claude-agent-acp", version: "0.99.1" },
    { name: "@anthropic-ai/claude-code", version: "2.1.325" },
  ],
  install_scripts: ["@anthropic-ai/claude-code"],
  keys: ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"],
  native_session_resume: true,
  history_context_injection: true,
  conversation: UUID,
  /** One file per conversation, in a folder named after the workspace with everything but letters and digits replaced. */
  session_files: (id, { home, env, workspace }) => {
    if (!workspace) return []
    const root = env.CLAUDE_CONFIG_DIR ?? join(home, ".claude")
    return [{ path: join(root, "projects", workspace.replace(/[^A-Za-z0-9]/g, "-"), `${id}.jsonl`), as: `${id}.jsonl` }]
  },
  trouble: [{ says: /No conversation found with session ID/i, means: "unknown_session" }],
})
