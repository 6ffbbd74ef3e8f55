// A program: appends to the given sessions until it is killed, and prints each event once it has been acknowledged.
import { completed, delta, openJournalOver, started } from "./journal"

const { store, sessions, name } = JSON.parse(process.argv[2] ?? "{}") as {
  store: Parameters<typeof openJournalOver>[0]
  sessions: { id: string; task_id: number; user_id: string }[]
  name: string
}
const WRITERS_PER_SESSION = 4
const { journal } = await openJournalOver(store)

for (const session of sessions) {
  for (let writer = 0; writer < WRITERS_PER_SESSION; writer++) void append(session, writer)
}

async function append(session: (typeof sessions)[number], writer: number): Promise<never> {
  for (let i = 1; ; i++) {
    const run = `run_${name}_${session.id}_${i}`
    // One writer opens and ends runs, so that rows beside the log change as well.
    const events = writer === 0 ? [started(run), delta(`${name}.${i}`, run), completed(run)] : [delta(`${name}.${writer}.${i}`), delta("+")]
    const committed = await journal.commit({ session, events })
    process.stdout.write(committed.events.map((event) => `${session.id} ${event.seq} ${event.kind}\n`).join(""))
  }
}
