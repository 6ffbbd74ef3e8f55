import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  type Caller,
  createApiTokens,
  createIdentities,
  createInvitations,
  createPasswords,
  createPeople,
  createRuntimeAccess,
  createSignIns,
  createStandings,
  type Person,
} from "../../server/auth"
import { type Change, insert, updateAny } from "../../server/journal"
import { realClock } from "../../server/platform/clock"
import { ids } from "../../server/platform/ids"
import { createStore, openJournalOver } from "../support/journal"
import { DATABASES } from "../support/server"

const DAY_MS = 86_400_000
const daysFromNow = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

describe.each(DATABASES)("accounts on %s", (database) => {
  let here: Awaited<ReturnType<typeof createStore>>
  let over: Awaited<ReturnType<typeof openJournalOver>>
  beforeAll(async () => {
    here = await createStore(database)
    over = await openJournalOver(here.store)
  })
  afterAll(async () => {
    await over.close()
    await here.drop()
  })

  function services() {
    const { db, journal } = over
    const deps = { db, journal, clock: realClock, passwords: createPasswords() }
    const invitations = createInvitations(deps)
    const parts = { people: createPeople(deps), tokens: createApiTokens(deps), signIns: createSignIns(deps) }
    const access = createRuntimeAccess(deps)
    const identities = createIdentities({ ...deps, invitations, domains: ["team.example"] })
    return { ...parts, access, identities, standings: createStandings({ ...parts, access }) }
  }
  async function makeUser(role = "user"): Promise<Person> {
    const id = ids.user()
    const row = {
      id,
      email: `${id.toLowerCase()}@example.org`,
      name: "",
      role,
      password_hash: null,
      created_at: daysFromNow(0),
      disabled_at: null,
    }
    await over.journal.write([insert("users", row)])
    return { id, email: row.email, name: "", role: role as Person["role"] }
  }
  const signInRow = (userId: string, seen: string): { id: string; change: Change } => {
    const id = ids.signIn()
    const times = { created_at: seen, last_seen_at: seen, expires_at: daysFromNow(20), ended_at: null }
    const change = insert("sign_ins", {
      id,
      user_id: userId,
      method: "password",
      address: "",
      user_agent: "",
      device_sha256: null,
      ...times,
    })
    return { id, change }
  }

  test("1,500 open sockets are compared with their users' rights, and each that has ended is found", async () => {
    const [admin, user] = [await makeUser("admin"), await makeUser()]
    const rows = Array.from({ length: 1_500 }, (_, i) => ({
      person: i % 2 ? admin : user,
      ...signInRow((i % 2 ? admin : user).id, daysFromNow(0)),
    }))
    await over.journal.write(rows.map(({ change }) => change))
    await over.journal.write([updateAny("sign_ins", { id: rows[1_400]?.id ?? "" }, { ended_at: daysFromNow(0) })])
    const callers = rows.map(
      ({ id, person }): Caller => ({ person, via: "browser", credential_id: id, scopes: null, expires_at: daysFromNow(20) }),
    )
    const standings = await services().standings(callers)
    expect(standings).toHaveLength(1_500)
    expect(standings.flatMap((standing, i) => (standing === null ? [i] : []))).toEqual([1_400])
    expect([standings[0], standings[1]]).toEqual(["user false", "admin true"])
  })

  test("a browser that was not used for 14 days is not counted as signed in", async () => {
    const user = await makeUser()
    await over.journal.write([signInRow(user.id, daysFromNow(-15)).change, signInRow(user.id, daysFromNow(-13)).change])
    const { people, signIns } = services()
    expect((await people.list()).find(({ id }) => id === user.id)?.sign_ins).toBe(1)
    expect(await signIns.list(user.id, null)).toHaveLength(1)
  })

  test("a provider account is connected in the commit that tells of it, or not at all", async () => {
    const { identities } = services()
    const user = await makeUser()
    const claims = { issuer: "https://id.example", subject: user.id, email: null, email_verified: false, name: "" }
    const told: string[] = []
    const connect = (entry: Change) =>
      identities.resolve(claims, { kind: "connect", user_id: user.id }, user, (joined, { id }) => {
        told.push(`${joined} ${id}`)
        return [entry]
      })
    const taken = insert("users", { ...(await over.db.user.findUniqueOrThrow({ where: { id: user.id } })) })
    expect(await connect(taken)).toEqual({ refused: "ACCOUNT_EXISTS" })
    expect(await identities.list(user.id)).toEqual([])
    expect(await connect(updateAny("users", { id: user.id }, { name: "Told" }))).toEqual({ person: user })
    expect(await identities.list(user.id)).toHaveLength(1)
    expect(told).toEqual([`connected ${user.id}`, `connected ${user.id}`])
  })

  test("of two ways to sign in, removed at once, one stays", async () => {
    const user = await makeUser()
    const own = ["one", "two"].map((subject) => ({ id: ids.identity(), issuer: "https://id.example", subject: `${user.id} ${subject}` }))
    await over.journal.write(own.map((row) => insert("identities", { ...row, user_id: user.id, email: null, created_at: daysFromNow(0) })))
    const { identities } = services()
    const removals = await Promise.allSettled(own.map(({ id }) => identities.remove(user.id, id, [])))
    expect(removals.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"])
    expect(removals.find((one) => one.status === "rejected")).toMatchObject({ reason: { code: "CONFLICT" } })
    expect(await identities.list(user.id)).toHaveLength(1)
  })
})
