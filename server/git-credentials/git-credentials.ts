import type { z } from "zod"
import type { GitCredential } from "../../lib/contracts/agentctl/protocol"
import { AppError } from "../../lib/contracts/errors"
import type { GitCredentialView, PutGitCredential } from "../../lib/contracts/people"
import { type Change, insert, type Journal, remove, updateAny } from "../journal"
import type { Clock } from "../platform/clock"
import type { Config } from "../platform/config"
import type { Database } from "../platform/database"
import { LOOPBACK_NAMES } from "../platform/gate"
import { createSealing } from "../platform/sealing"

type Deps = { db: Database; journal: Journal; clock: Clock; secrets: Config["auth_secrets"] }

/** What git servers ask a user for: sealed in the database, opened for a clone or a fetch of that user's sessions, shown to nobody. */
export function createGitCredentials({ db, journal, clock, secrets }: Deps) {
  const sealing = createSealing(secrets, "rewake git credentials")

  return {
    async list(userId: string): Promise<GitCredentialView[]> {
      const rows = await db.gitCredential.findMany({ where: { user_id: userId }, orderBy: { host: "asc" } })
      return rows.map(({ host, username, updated_at }) => ({ host, username, updated_at }))
    },
    /** In the place of what was saved for the same host. */
    async put(userId: string, credential: z.infer<typeof PutGitCredential>): Promise<void> {
      const host = hostOf(credential.host)
      const { username, secret } = credential
      const row = { user_id: userId, host, username, sealed: sealing.seal([userId, host], secret), updated_at: clock.now().toISOString() }
      await journal.write([remove("git_credentials", { user_id: userId, host }), insert("git_credentials", row)])
    },
    async remove(userId: string, host: string): Promise<void> {
      const user_id_host = { user_id: userId, host: hostOf(host) }
      if (!(await db.gitCredential.findUnique({ where: { user_id_host } })))
        throw new AppError("NOT_FOUND", "Nothing is saved for this host.", { entity: "git_credential" })
      await journal.write([remove("git_credentials", user_id_host)])
    },
    /** For this user's clone or fetch of that URL. Null: nothing is saved for its host, or git asks nobody for it. */
    async forUrl(userId: string, url: string): Promise<GitCredential | null> {
      const [, protocol] = /^(https?):\/\//.exec(url) ?? []
      if (protocol === undefined || !URL.canParse(url)) return null
      const { host, hostname } = new URL(url)
      // Unencrypted, whoever is on the way would have it.
      if (protocol === "http" && !LOOPBACK_NAMES.includes(hostname)) return null
      const row = await db.gitCredential.findUnique({ where: { user_id_host: { user_id: userId, host } } })
      if (!row) return null
      try {
        const secret = sealing.open([userId, host], row.sealed)
        return { protocol: protocol as GitCredential["protocol"], host, username: row.username, secret }
      } catch {
        const message = `The saved password for ${host} cannot be read, since AUTH_SECRET has changed. Save it again under Settings, Git credentials.`
        throw new AppError("NOT_READY", message, {})
      }
    },
    /** The changes that seal again what an older secret sealed. */
    resealed: async (): Promise<Change[]> =>
      sealing.reseal(
        await db.gitCredential.findMany(),
        ({ user_id, host }) => [user_id, host],
        ({ user_id, host, sealed }, anew) => updateAny("git_credentials", { user_id, host, sealed }, { sealed: anew }),
      ),
  }
}
export type GitCredentials = ReturnType<typeof createGitCredentials>

/** As it is in a parsed URL: without the port that https has anyway. */
const hostOf = (host: string): string => new URL(`https://${host}`).host
