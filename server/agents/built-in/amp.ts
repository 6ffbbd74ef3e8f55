import { defineAgent } from "../agent"

export const amp = defineAgent({
  id: "amp",
  name: "Amp",
  description: "Sourcegraph's coding agent, in a terminal.",
  terminal: {
    program: "amp",
    args: [],
    begin: [],
    make: { args: ["threads", "new"], says: /\b(T-[0-9a-f-]{36})\b/ },
    again: ["threads", "continue", "{id}"],
    newest: ["threads", "continue", "--last"],
    // Versions that have given it up say so, and where they explain what to do instead.
    fork: ["threads", "fork", "{from}"],
  },
  packages: [{ name: "@sourcegraph/amp", version: "0.0.1790142911-g7618fb" }],
  install_scripts: ["@ampcode/cli"],
  keys: ["AMP_API_KEY"],
  conversation: /^T-[0-9a-f-]{36}$/,
  native_session_resume: false,
  history_context_injection: false,
})
