import { defineAgent } from "../agent"

export const opencode = defineAgent({
  id: "opencode",
  name: "OpenCode",
  description: "The open source coding agent.",
  acp: { program: "opencode", args: ["acp"] },
  terminal: {
    program: "opencode",
    args: [],
    begin: [],
    again: ["--session", "{id}"],
    newest: ["--continue"],
    fork: ["--session", "{from}", "--fork"],
  },
  packages: [{ name: "opencode-ai", version: "1.18.33" }],
  keys: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
  native_session_resume: true,
  history_context_injection: true,
  /** All conversations are in one database, which holds other folders' as well. */
  carries: { exports: (id) => (/^ses_[A-Za-z0-9]+$/.test(id) ? ["export", id] : null), imports: ["import", "{file}"] },
  trouble: [{ says: /Session not found/i, means: "unknown_session" }],
})
