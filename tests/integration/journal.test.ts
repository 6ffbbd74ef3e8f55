import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { NewEvent, SessionEvent } from "../../lib/contracts/events"
import { guard, insert, isConflict, type Journal, StoreRefused, update } from "../../server/journal"
import type { Database } from "../../server/platform/database"
import { completed, createStore, delta, interrupted, makeSession, openJournalOver, started } from "../support/journal"
import { DATABASES } from "../support/server"

const numbersOf = (events: readonly SessionEvent[]) => events.map((event) => event.seq)
const oneTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)
const outcomes = async (attempts: Promise<unknown>[]) => {
  const settled = await Promise.allSettled(attempts)
  return { won: settled.filter((one) => one.status === "fulfilled").length, settled }
}

describe.each(DATABASES)("the journal on %s", (database) => {
  let here: Awaited<ReturnType<typeof createStore>>
  let journal: Journal
  let db: Database
  let close: () => Promise<void>
  /** Another process's look at the same database. */
  let other: Awaited<ReturnType<typeof openJournalOver>>

  beforeAll(async () => {
    here = await createStore(database)
    ;({ journal, db, close } = await openJournalOver(here.store))
    other = await openJournalOver(here.store)
  })
  afterAll(async () => {
    await close()
    await other.close()
    await here.drop()
  })

  const countEvents = (id: string) => db.sessionEvent.count({ where: { session_id: id } })
  const readAll = async (id: string, from = other.journal) => {
    const all: SessionEvent[] = []
    for (;;) {
      const { events, more } = await from.read(id, all.at(-1)?.seq ?? 0, 1000)
      all.push(...events)
      if (!more) return all
    }
  }

  test("[1] fifty writers at once over several sessions leave no gap, no reuse and no reordering", async () => {
    const sessions = await Promise.all(oneTo(5).map(() => makeSession(journal)))
    const acknowledged = new Map(sessions.map(({ id }) => [id, new Map<number, string>()]))
    await Promise.all(
      oneTo(50).map(async (writer) => {
        const session = sessions[writer % sessions.length] as (typeof sessions)[number]
        for (let i = 1; i <= 30; i++) {
          const events = oneTo(1 + ((writer + i) % 3)).map((part) => delta(`${writer}.${i}.${part}`))
          const committed = await journal.commit({ session, events })
          // The events of one commit lie side by side.
          expect(numbersOf(committed.events)).toEqual(events.map((_, at) => (committed.events[0]?.seq ?? 0) + at))
          for (const event of committed.events) {
            const mine = acknowledged.get(session.id) as Map<number, string>
            expect(mine.has(event.seq)).toBe(false)
            mine.set(event.seq, event.kind === "message.delta" ? event.content : "")
          }
        }
      }),
    )
    for (const { id } of sessions) {
      const log = await readAll(id)
      const mine = acknowledged.get(id) as Map<number, string>
      expect(numbersOf(log)).toEqual(oneTo(mine.size + 1))
      const contents = log.flatMap((event) => (event.kind === "message.delta" ? [event.content] : []))
      expect(contents).toEqual([...mine].sort(([a], [b]) => a - b).map(([, content]) => content))
      for (const writer of oneTo(50)) {
        const own = contents.filter((content) => content.startsWith(`${writer}.`))
        expect(own).toEqual([...own].sort((a, b) => place(a) - place(b)))
      }
      expect(await other.journal.head(id)).toBe(log.length)
    }
  })

  test("[1] commits of one session keep the order in which they were asked for", async () => {
    const session = await makeSession(journal)
    const committed = await Promise.all(oneTo(200).map((i) => journal.commit({ session, events: [delta(String(i))] })))
    expect(committed.map(({ events }) => events[0]?.seq)).toEqual(oneTo(200).map((i) => i + 1))
  })

  test("a commit whose guard fails changes nothing, and its group mates go through", async () => {
    const [loser, mate] = [await makeSession(journal), await makeSession(journal)]
    const before = await db.task.findUniqueOrThrow({ where: { id: loser.task_id } })
    // Asked for in one turn of the event loop behind a first one, so that they share a transaction.
    const first = journal.commit({ session: mate, events: [delta("first")] })
    const lost = journal.commit({
      session: loser,
      guards: [guard("sessions", { id: loser.id, state: "RUNNING" })],
      rows: [update("tasks", { id: loser.task_id }, { title: "Changed" })],
      events: [delta("never")],
    })
    const lostLate = journal.commit({
      session: loser,
      rows: [update("tasks", { id: loser.task_id }, { title: "Changed too" })],
      // The events are written before their consequence is found impossible: they must go with it.
      events: [delta("never"), completed("run_that_never_was")],
    })
    const after = journal.commit({ session: mate, events: [delta("second")] })
    const { settled } = await outcomes([first, lost, lostLate, after])
    expect(settled.map((one) => one.status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"])
    for (const one of settled.slice(1, 3)) expect(isConflict((one as PromiseRejectedResult).reason)).toBe(true)
    expect(await countEvents(loser.id)).toBe(1)
    expect(await journal.head(loser.id)).toBe(1)
    expect(await db.task.findUniqueOrThrow({ where: { id: loser.task_id } })).toEqual(before)
    expect(numbersOf(await readAll(mate.id))).toEqual([1, 2, 3])
  })

  test("content the database refuses is told to its caller alone, and leaves no gap", async () => {
    const [bad, good] = [await makeSession(journal), await makeSession(journal)]
    const { settled } = await outcomes([
      journal.commit({ session: good, events: [delta("1")] }),
      journal.commit({
        session: bad,
        rows: [insert("settings", { key: `twice_${bad.id}`, value: "" }), insert("settings", { key: `twice_${bad.id}`, value: "" })],
        events: [delta("never")],
      }),
      journal.commit({ session: good, events: [delta("2")] }),
    ])
    expect(settled.map((one) => one.status)).toEqual(["fulfilled", "rejected", "fulfilled"])
    expect((settled[1] as PromiseRejectedResult).reason).toBeInstanceOf(StoreRefused)
    expect(await countEvents(bad.id)).toBe(1)
    expect(await db.setting.findUnique({ where: { key: `twice_${bad.id}` } })).toBeNull()
    expect(numbersOf((await journal.commit({ session: bad, events: [delta("next")] })).events)).toEqual([2])
  })

  test("an event for a session that does not exist is refused", async () => {
    const nobody = { id: "sess_nobody", task_id: 1, user_id: "usr_1" }
    await expect(journal.commit({ session: nobody, events: [delta("lost")] })).rejects.toSatisfy(isConflict)
    expect(await countEvents(nobody.id)).toBe(0)
  })

  test("[3] a run ends once: the second end is refused, whatever it is", async () => {
    const session = await makeSession(journal)
    await journal.commit({ session, events: [started("run_once")] })
    await journal.commit({ session, events: [interrupted("run_once")] })
    for (const end of [completed("run_once"), interrupted("run_once")]) {
      await expect(journal.commit({ session, events: [end] })).rejects.toThrow()
    }
    // Not even when the row was made to look as if the run were open: the log itself refuses.
    await journal.write([update("sessions", { id: session.id }, { open_run_id: "run_once" })])
    await expect(journal.commit({ session, events: [interrupted("run_once")] })).rejects.toBeInstanceOf(StoreRefused)
    expect((await readAll(session.id)).map((event) => event.kind)).toEqual(["session.state_changed", "run.started", "run.interrupted"])
  })

  test("[3] a run ends once when two servers end it at once", async () => {
    for (const round of oneTo(20)) {
      const session = await makeSession(journal)
      const run = `run_${session.id}_${round}`
      await journal.commit({ session, events: [started(run)] })
      const { won } = await outcomes([
        journal.commit({ session, events: [interrupted(run)] }),
        other.journal.commit({ session, events: [completed(run)] }),
        other.journal.commit({ session, events: [interrupted(run)] }),
      ])
      expect(won).toBe(1)
      expect(await db.sessionEvent.count({ where: { terminal_run_id: run } })).toBe(1)
      expect(numbersOf(await readAll(session.id))).toEqual([1, 2, 3])
    }
  })

  test("a run cannot start while another is open, from whichever server", async () => {
    const session = await makeSession(journal)
    const { won } = await outcomes([
      journal.commit({ session, events: [started(`run_a_${session.id}`)] }),
      other.journal.commit({ session, events: [started(`run_b_${session.id}`)] }),
    ])
    expect(won).toBe(1)
  })

  test("[4] a resume token is consumed once when two answers race, also from two servers", async () => {
    for (const round of oneTo(20)) {
      const session = await makeSession(journal)
      const [run_id, resume_token_id] = [`run_${session.id}`, `rt_${session.id}_${round}`]
      await journal.commit({ session, events: [started(run_id), ...asked(run_id, resume_token_id)] })
      const answer = (option_id: string): NewEvent[] => [
        { kind: "token.consumed", resume_token_id, outcome: { kind: "selected", option_id }, by: "usr_1" },
        { kind: "run.resumed", run_id, resume_token_id },
      ]
      const { won, settled } = await outcomes([
        journal.commit({ session, events: answer("yes") }),
        other.journal.commit({ session, events: answer("no") }),
      ])
      expect(won).toBe(1)
      const lost = settled.find((one): one is PromiseRejectedResult => one.status === "rejected")
      expect(isConflict(lost?.reason)).toBe(true)
      const log = await readAll(session.id)
      expect(log.filter((event) => event.kind === "token.consumed")).toHaveLength(1)
      const row = await db.resumeToken.findUniqueOrThrow({ where: { id: resume_token_id } })
      expect(JSON.parse(row.outcome ?? "null")).toEqual({ kind: "selected", option_id: settled[0]?.status === "fulfilled" ? "yes" : "no" })
    }
  })

  test("two servers writing to the same sessions in different orders neither deadlock nor lose anything", async () => {
    const sessions = await Promise.all(oneTo(4).map(() => makeSession(journal)))
    await Promise.all(
      [journal, other.journal].flatMap((writer, side) =>
        oneTo(25).flatMap((i) =>
          (side === 0 ? sessions : [...sessions].reverse()).map((session) => writer.commit({ session, events: [delta(`${side}.${i}`)] })),
        ),
      ),
    )
    for (const { id } of sessions) expect(numbersOf(await readAll(id))).toEqual(oneTo(51))
  })

  test("any text survives: NUL, lone surrogates, U+2028, a megabyte", async () => {
    const session = await makeSession(journal)
    const texts = [
      "\u0000",
      "a\u0000b",
      "\ud800",
      "\udc00 reversed \ud83d",
      "\u2028\u2029\ufeff",
      "😀".repeat(10),
      "x".repeat(1 << 20),
      "",
      "\\u0000",
    ]
    await journal.commit({ session, events: texts.map((text) => delta(text)) })
    const stored = (await readAll(session.id)).flatMap((event) => (event.kind === "message.delta" ? [event.content] : []))
    expect(stored).toEqual(texts)
    const queued: NewEvent = {
      kind: "prompt.queued",
      prompt_id: `prm_${session.id}`,
      message_id: "msg_1",
      content: "\u0000\ud800",
      rank: 0,
      client_message_id: null,
    }
    await journal.commit({ session, events: [queued] })
    const prompt = await db.prompt.findUniqueOrThrow({ where: { id: `prm_${session.id}` } })
    expect(JSON.parse(prompt.content)).toBe("\u0000\ud800")
  })

  test("followers hear of events only after the commit, in order, and not of what was refused", async () => {
    const session = await makeSession(journal)
    const heard: SessionEvent[] = []
    const looks: Promise<void>[] = []
    const stop = journal.follow((ref, events) => {
      if (ref.id !== session.id) return
      heard.push(...events)
      const last = events.at(-1) as SessionEvent
      // What a follower was told is there for any other connection at that moment.
      looks.push(
        other.db.sessionEvent
          .findUnique({ where: { session_id_seq: { session_id: session.id, seq: last.seq } } })
          .then((row) => expect(row?.kind).toBe(last.kind)),
      )
    })
    await Promise.allSettled(
      oneTo(40).map((i) =>
        journal.commit({
          session,
          events: i % 4 === 0 ? [delta("never"), completed("run_nobody_knows")] : [delta(`${i}`), delta(`${i}+`)],
        }),
      ),
    )
    await Promise.all(looks)
    stop()
    await journal.commit({ session, events: [delta("unheard")] })
    const log = await readAll(session.id)
    expect(heard).toEqual(log.slice(1, -1))
    expect(heard.some((event) => event.kind === "message.delta" && event.content === "never")).toBe(false)
  })

  test("pages forwards and backwards hold every event once, in ascending order, across holes", async () => {
    const session = await makeSession(journal)
    await journal.commit({ session, events: oneTo(24).map((i) => delta(String(i))) })
    await journal.write([{ op: "delete", table: "session_events", where: { session_id: session.id, seq: { in: [5, 6, 7, 20] } } }])
    const expected = oneTo(25).filter((seq) => ![5, 6, 7, 20].includes(seq))
    const forwards: number[] = []
    for (let after = 0; ; after = forwards.at(-1) ?? 0) {
      const { events, more } = await journal.read(session.id, after, 4)
      forwards.push(...numbersOf(events))
      if (!more) break
    }
    expect(forwards).toEqual(expected)
    let backwards: number[] = []
    for (let before = 1_000; ; before = backwards[0] ?? 1) {
      const { events, more } = await journal.readBefore(session.id, before, 4)
      const page = numbersOf(events)
      expect(page).toEqual([...page].sort((a, b) => a - b))
      backwards = [...page, ...backwards]
      if (!more) break
    }
    expect(backwards).toEqual(expected)
    expect(await journal.read(session.id, 25, 10)).toEqual({ events: [], more: false })
    expect(await journal.readBefore(session.id, 1, 10)).toEqual({ events: [], more: false })
    await expect(journal.head("sess_unknown")).rejects.toMatchObject({ code: "NOT_FOUND" })
  })

  test("a page ends after four megabytes, and the next goes on behind it", async () => {
    const session = await makeSession(journal)
    const large = "x".repeat(3 * 1024 * 1024)
    await journal.commit({ session, events: oneTo(5).map(() => delta(large)) })
    await journal.commit({ session, events: oneTo(40).map((i) => delta(String(i))) })
    const sizes: number[] = []
    for (let after = 1, full = true; full; ) {
      const { events, more } = await journal.read(session.id, after, 2000)
      sizes.push(events.length)
      after = events.at(-1)?.seq ?? after
      full = more
    }
    expect(sizes).toEqual([2, 2, 41])
    const { events, more } = await journal.readBefore(session.id, 7, 2000)
    expect([numbersOf(events), more]).toEqual([[5, 6], true])
  })

  test.each([31, 32, 33, 160, 161])("a log of %i events is read to its end", async (count) => {
    const session = await makeSession(journal)
    await journal.commit({ session, events: oneTo(count - 1).map((i) => delta(String(i))) })
    const forwards = await journal.read(session.id, 0, 2000)
    expect([numbersOf(forwards.events), forwards.more]).toEqual([oneTo(count), false])
    const backwards = await journal.readBefore(session.id, 1_000, 2000)
    expect([numbersOf(backwards.events), backwards.more]).toEqual([oneTo(count), false])
  })

  test("a row of a kind this build does not know is shown, not lost", async () => {
    const session = await makeSession(journal)
    await journal.write([
      insert("session_events", {
        session_id: session.id,
        seq: 2,
        ts: new Date(0).toISOString(),
        kind: "from.the.future",
        v: 1,
        terminal_run_id: null,
        payload: '{"what":"new"}',
      }),
    ])
    const [, event] = (await journal.read(session.id, 0, 10)).events
    expect(event).toMatchObject({ kind: "agent.update", seq: 2, update: { kind: "from.the.future", what: "new" } })
  })

  test("random commits from two servers leave exactly what a plain model says", async () => {
    const step = fc.record({
      session: fc.nat({ max: 2 }),
      server: fc.nat({ max: 1 }),
      act: fc.constantFrom("say", "say", "start", "complete", "interrupt", "guarded", "wait"),
      size: fc.integer({ min: 1, max: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const sessions = await Promise.all(oneTo(3).map(() => makeSession(journal)))
        const model = sessions.map(() => ({ kinds: ["session.state_changed"], run: null as string | null, waits: 0 }))
        for (const [i, { session: at, server, act, size }] of steps.entries()) {
          const session = sessions[at] as (typeof sessions)[number]
          const expected = model[at] as (typeof model)[number]
          const run = expected.run ?? `run_${session.id}_${i}`
          const writer = server === 0 ? journal : other.journal
          const events: Record<typeof act, NewEvent[]> = {
            say: oneTo(size).map((n) => delta(`${i}.${n}`)),
            start: [started(`run_${session.id}_${i}`)],
            complete: [delta("last words"), completed(run)],
            interrupt: [interrupted(run)],
            guarded: [delta("guarded")],
            wait: asked(run, `rt_${session.id}_${i}`),
          }
          const open = expected.run !== null
          const allowed = { say: true, start: !open, complete: open, interrupt: open, guarded: !open, wait: open }[act]
          const attempt = writer.commit({
            session,
            guards: act === "guarded" ? [guard("sessions", { id: session.id, open_run_id: null })] : [],
            events: events[act],
          })
          if (!allowed) {
            await expect(attempt).rejects.toThrow()
            continue
          }
          await attempt
          expected.kinds.push(...events[act].map((event) => event.kind))
          if (act === "start") Object.assign(expected, { run: `run_${session.id}_${i}`, waits: 0 })
          if (act === "wait") expected.waits += 1
          if (act === "complete" || act === "interrupt") Object.assign(expected, { run: null, waits: 0 })
        }
        for (const [at, { id }] of sessions.entries()) {
          const expected = model[at] as (typeof model)[number]
          const log = await readAll(id)
          expect(log.map((event) => event.kind)).toEqual(expected.kinds)
          expect(numbersOf(log)).toEqual(oneTo(expected.kinds.length))
          const row = await db.session.findUniqueOrThrow({ where: { id } })
          expect(row).toMatchObject({ last_seq: expected.kinds.length, open_run_id: expected.run, open_waits: expected.waits })
        }
      }),
      { numRuns: 25 },
    )
  })
})

const place = (content: string) => {
  const [, i, part] = content.split(".").map(Number)
  return (i ?? 0) * 10 + (part ?? 0)
}
const asked = (run_id: string, resume_token_id: string): NewEvent[] => [
  {
    kind: "token.minted",
    resume_token_id,
    run_id,
    wait_kind: "question",
    request_id: `perm_${resume_token_id}`,
    secret_sha256: "00",
    expires_at: "2999-01-01T00:00:00.000Z",
  },
  {
    kind: "run.waiting",
    run_id,
    resume_token_id,
    wait_kind: "question",
    deadline_at: "2999-01-01T00:00:00.000Z",
    title: "Which?",
    detail: null,
    options: [],
    tool_call_id: null,
  },
]
