import { join } from "node:path"
import { defineAgent, UUID } from "../agent"

export const gemini = defineAgent({
  id: "gemini",
  name: "Gemini",
  description: "Google's coding agent.",
  acp: { program: "gemini", args: ["--acp"] },
  terminal: {
    program: "gemini",
    args: [],
    begin: ["--session-id", "{id}"],
    again: ["--resume", "{id}"],
    newest: ["--resume", "latest"],
    fork: null,
  },
  packages: [{ name: "@google/gemini-cli", version: "0.61.0" }],
  keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  native_session_resume: true,
  history_context_injection: true,
  conversation: UUID,
  /** One file per conversation, in a folder per workspace whose name only Gemini knows; the file's name ends with how the id begins. */
  session_files: (id, { home }) => [{ path: join(home, ".gemini", "tmp"), as: "gemini", ending: `-${id.slice(0, 8)}.jsonl` }],
})
