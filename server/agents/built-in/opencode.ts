import { randomBytes, randomUUID } from "node:crypto"
import { z } from "zod"
import { defineAgent } from "../agent"

const VERSION = "1.18.33"
const Listed = z.array(z.object({ id: z.string(), directory: z.string(), created: z.number() }))

export const opencode = defineAgent({
  id: "opencode",
  name: "OpenCode",
  description: "The open source coding agent.",
  acp: { program: "opencode", args: ["acp"] },
  terminal: {
    program: "opencode",
    args: [],
    begin: [],
    make: { args: ["import", "{file}"], says: /Imported session: (ses_[A-Za-z0-9]+)/, input: emptySession },
    list: { args: ["session", "list", "--format", "json"], read: readSessions },
    again: ["--session", "{id}"],
    newest: ["--continue"],
    fork: ["--session", "{from}", "--fork"],
  },
  packages: [{ name: "opencode-ai", version: VERSION }],
  install_scripts: ["opencode-ai"],
  keys: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
  native_session_resume: true,
  history_context_injection: true,
  conversation: /^ses_[A-Za-z0-9]{1,100}$/,
  /** All conversations are in one database, which holds other folders' as well. */
  carries: { exports: (id) => ["export", id], imports: ["import", "{file}"] },
  trouble: [{ says: /Session not found/i, means: "unknown_session" }],
})

/** A conversation in which nothing was said, as its own export would show one. */
function emptySession(directory: string): string {
  const created = Date.now()
  // Its names begin with the time, counted down, so that the newest come first.
  const time = ((1n << 48n) - 1n - ((BigInt(created) * 0x1000n) & ((1n << 48n) - 1n))).toString(16).padStart(12, "0")
  const id = `ses_${time}${randomBytes(7).toString("hex")}`
  // A title of this form is replaced by one that fits what is said.
  const title = `New session - ${new Date(created).toISOString()}`
  const info = { id, slug: randomUUID(), version: VERSION, projectID: "global", directory, title, time: { created, updated: created } }
  return JSON.stringify({ info, messages: [] })
}

function readSessions(output: string) {
  return Listed.parse(JSON.parse(output)).map(({ id, directory, created }) => ({ id, folder: directory, begun_at: created }))
}
