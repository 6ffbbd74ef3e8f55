import type { ApiTokens } from "./api-tokens"
import type { Caller } from "./current-user"
import type { People } from "./people"
import type { RuntimeAccess } from "./runtime-access"
import type { SignIns } from "./sign-ins"

type Deps = { people: People; tokens: ApiTokens; signIns: SignIns; access: RuntimeAccess }

/**
 * What each of these callers may do now, as a text to compare; null for one whose sign-in or token is over. For connections that
 * outlive a request. In the order they were given.
 */
export function createStandings({ people, tokens, signIns, access }: Deps) {
  return async (callers: readonly Caller[]): Promise<(string | null)[]> => {
    const idsVia = (via: Caller["via"]) => [...new Set(callers.filter((caller) => caller.via === via).map((one) => one.credential_id))]
    const live = { browser: await signIns.live(idsVia("browser")), token: await tokens.live(idsVia("token")) }
    const rights = new Map<string, string | null>()
    for (const { person } of callers) {
      if (rights.has(person.id)) continue
      const user = await people.byId(person.id)
      rights.set(person.id, user && `${user.role} ${await access.isAllowed(user.id, "standalone")}`)
    }
    return callers.map((caller) => (live[caller.via].has(caller.credential_id) ? (rights.get(caller.person.id) ?? null) : null))
  }
}
