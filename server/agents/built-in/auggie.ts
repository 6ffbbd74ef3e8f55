import { defineAgent } from "../agent"

export const auggie = defineAgent({
  id: "auggie",
  name: "Auggie",
  description: "Augment's coding agent.",
  acp: { program: "auggie", args: ["--acp"] },
  terminal: { program: "auggie", args: [], begin: [], again: ["--resume", "{id}"], newest: ["--continue"], fork: null },
  packages: [{ name: "@augmentcode/auggie", version: "0.36.0" }],
  keys: ["AUGMENT_SESSION_AUTH"],
  native_session_resume: false,
  history_context_injection: true,
})
