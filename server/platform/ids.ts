import { randomBytes } from "node:crypto"

/** Sortable by time of making, so that logs and index pages stay in order; the rest is random. `madeAt` in lib/contracts/ids.ts reads it. */
const make = (prefix: string) => `${prefix}_${Date.now().toString(36)}${randomBytes(8).toString("hex")}`

export const ids = {
  session: () => make("sess"),
  run: () => make("run"),
  prompt: () => make("prm"),
  message: () => make("msg"),
  executor: () => make("exe"),
  execution: () => make("aex"),
  resumeToken: () => make("rt"),
  boot: () => make("boot"),
  user: () => make("usr"),
  apiToken: () => make("tok"),
  invitation: () => make("inv"),
  passwordReset: () => make("rst"),
  signIn: () => make("sgn"),
  identity: () => make("idn"),
  auditEvent: () => make("aud"),
  archive: () => make("arc"),
  attachment: () => make("att"),
  comment: () => make("cmt"),
  worker: () => make("wrk"),
  generation: () => make("gen"),
  /** The name an import is staged under; no session is ever called so. */
  staging: () => make("import"),
  /** Sorts before every staging name made later. */
  stagingAt: (time: number) => `import_${Math.max(0, time).toString(36).padStart(8, "0")}`,
}
