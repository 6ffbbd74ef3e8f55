import { join } from "node:path"
import { defineAgent, UUID } from "../agent"

export const copilot = defineAgent({
  id: "copilot",
  name: "Copilot",
  description: "GitHub's coding agent.",
  acp: { program: "copilot", args: ["--acp"] },
  terminal: {
    program: "copilot",
    args: [],
    begin: ["--session-id", "{id}"],
    again: ["--resume", "{id}"],
    newest: ["--continue"],
    fork: null,
  },
  packages: [{ name: "@github/copilot", version: "1.0.102" }],
  keys: ["GH_TOKEN", "GITHUB_TOKEN", "COPILOT_GITHUB_TOKEN"],
  native_session_resume: true,
  history_context_injection: true,
  conversation: UUID,
  /** One folder per conversation; its database beside them is an index, and is made again. */
  session_files: (id, { home }) => [{ path: join(home, ".copilot", "session-state", id), as: id }],
})
