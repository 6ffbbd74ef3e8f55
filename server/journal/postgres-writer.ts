import pg from "pg"
import { DURATIONS } from "../../lib/host/durations"
import { killPoint } from "../../lib/host/kill-point"
import { type Answer, applyBatch, type WriteRequest, type WriteResult } from "./apply-batch"
import { CHANNEL, type Notice, toPayload } from "./notices"
import { CONNECTION_LIMITS } from "./postgres-limits"
import type { Writer } from "./writer"

/** Two servers took the same rows in different orders; the whole batch was rolled back and may be tried again. */
const RETRYABLE = new Set(["40P01", "40001"])
const ATTEMPTS = 5

/** One connection of its own: batches follow one another, as on SQLite. */
export function openPostgresWriter(url: string, origin = ""): Writer {
  let connection: Promise<pg.Client> | null = null
  const names = new Map<string, string>()

  async function connect() {
    const client = new pg.Client({ connectionString: url, application_name: "rewake-journal", ...CONNECTION_LIMITS })
    client.on("error", () => {
      connection = null
    })
    await client.connect()
    // A server that is stopped or cut off in the middle of a transaction holds its row locks: without a limit, no other server
    // could ever take over those sessions.
    await client.query(`SET synchronous_commit = on; SET idle_in_transaction_session_timeout = ${DURATIONS.stalledTransactionMs}`)
    return client
  }

  /** A named statement is planned once per connection. */
  function nameOf(sql: string) {
    const known = names.get(sql)
    if (known) return known
    const name = `rewake_${names.size}`
    names.set(sql, name)
    return name
  }

  async function attempt(client: pg.Client, batch: WriteRequest[]): Promise<WriteResult[]> {
    await client.query("BEGIN")
    const steps = applyBatch(batch, "postgresql")
    let step = steps.next()
    while (!step.done) {
      let answer: Answer
      try {
        const { sql, params } = step.value
        const result = await client.query({ text: sql, values: params, name: nameOf(sql) })
        answer = { rows: result.rows, count: result.rowCount ?? 0 }
      } catch (error) {
        if (RETRYABLE.has((error as { code?: string }).code ?? "")) throw error
        step = steps.throw(error)
        continue
      }
      step = steps.next(answer)
    }
    const grown = grownSessions(batch, step.value).map((notice) => toPayload(origin, notice))
    // Within the transaction: the others hear of it when it is there to be read, and not at all if it is not.
    if (grown.length > 0) await client.query("SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload", [CHANNEL, grown])
    killPoint("writer.applied")
    await client.query("COMMIT")
    killPoint("writer.committed")
    return step.value
  }

  return {
    depth: 1,
    async write(batch) {
      for (let tries = 1; ; tries++) {
        connection ??= connect()
        let client: pg.Client
        try {
          client = await connection
        } catch (error) {
          connection = null
          throw error
        }
        try {
          return await attempt(client, batch)
        } catch (error) {
          const rolledBack = !isReadTimeout(error) && (await rollBack(client))
          // A connection lost in mid-commit leaves it open whether the batch is in: the callers must look, not repeat.
          if (!rolledBack) {
            connection = null
            client.end().catch(() => {})
          }
          if (!rolledBack || !RETRYABLE.has((error as { code?: string }).code ?? "") || tries >= ATTEMPTS) throw error
        }
      }
    },
    async close() {
      const client = await connection?.catch(() => null)
      connection = null
      await client?.end()
    },
  }
}

/** Nothing more is answered on that connection; a query on it would wait behind the one that hangs. */
const isReadTimeout = (error: unknown) => error instanceof Error && error.message === "Query read timeout"

const rollBack = (client: pg.Client) =>
  client.query("ROLLBACK").then(
    () => true,
    () => false,
  )

function grownSessions(batch: readonly WriteRequest[], results: readonly WriteResult[]): Notice[] {
  const heads = new Map<string, number>()
  for (const [i, request] of batch.entries()) {
    const result = results[i]
    if (request.session_id && result?.ok && request.events.length > 0)
      heads.set(request.session_id, result.first_seq + request.events.length - 1)
  }
  return [...heads].map(([session_id, head]) => ({ session_id, head }))
}
