import { defineAgent } from "../agent"

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
})
