import { z } from "zod"

/** Git reads an answer line by line: a line break in it would be a further answer. */
const oneLine = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^\P{Cc}+$/u, "must be one line")

/** What a user saves for one git server: `host` is `host` or `host:port`, `secret` a password or a token. */
export const PutGitCredential = z.object({ host: oneLine(255), username: oneLine(255), secret: oneLine(8192) })
export type PutGitCredential = z.infer<typeof PutGitCredential>

/** The secret is shown to nobody. */
export type GitCredentialView = { host: string; username: string; updated_at: string }
