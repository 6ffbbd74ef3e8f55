import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createAttachments, findWanted, requireFree, taken } from "../../server/attachments"
import { insert } from "../../server/journal"
import { DOT } from "../support/attachments"
import { createStore, openJournalOver } from "../support/journal"
import { DATABASES } from "../support/server"

const HOUR = 3_600_000
const me = { id: "usr_1" }
async function* piece(content: Uint8Array) {
  yield content
}

describe.each(DATABASES)("attachments nobody sent, on %s", (database) => {
  let place: Awaited<ReturnType<typeof createStore>>
  let open: Awaited<ReturnType<typeof openJournalOver>>
  beforeAll(async () => {
    place = await createStore(database)
    open = await openJournalOver(place.store)
  })
  afterAll(async () => {
    await open?.close()
    await place?.drop()
  })

  test("are there for a day, then they go; what a message took stays", async () => {
    let now = Date.parse("2026-01-01T00:00:00.000Z")
    const { db, journal } = open
    const attachments = createAttachments({ db, journal, clock: { now: () => new Date(now) } })
    const keep = () => attachments.keep(me, { name: "shot.png", type: null, length: null, content: piece(DOT) })
    const [unsent, sent] = [await keep(), await keep()]
    await journal.write(taken(requireFree(await findWanted(db, me.id, [sent.id])), "sess_1"))
    now += 23 * HOUR
    await attachments.removeUnused()
    expect((await attachments.open(me, unsent.id)).content).toEqual(DOT)
    now += 2 * HOUR
    await attachments.removeUnused()
    await expect(attachments.open(me, unsent.id)).rejects.toMatchObject({ code: "NOT_FOUND" })
    expect((await attachments.open(me, sent.id)).content).toEqual(DOT)
  })

  test("are one person's share of the database, and no more", async () => {
    const { db, journal } = open
    const attachments = createAttachments({ db, journal, clock: { now: () => new Date() } })
    const keep = (person: { id: string }) => attachments.keep(person, { name: "shot.png", type: null, length: null, content: piece(DOT) })
    const large = { user_id: "usr_2", name: "big", mime_type: "image/png", bytes: 5 * 1024 * 1024, sha256: "", data: "", created_at: "" }
    await journal.write(Array.from({ length: 40 }, (_, i) => insert("attachments", { id: `att_${i}`, session_id: null, ...large })))
    await expect(keep({ id: "usr_2" })).rejects.toMatchObject({ code: "RATE_LIMITED" })
    expect(await keep(me)).toMatchObject({ bytes: DOT.length })
  })
})
