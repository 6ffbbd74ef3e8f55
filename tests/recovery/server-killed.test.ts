import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { processStartTime } from "../../lib/host/process-identity"
import { agentText, follow, numbers, type Rewake } from "../support/server"
import { useServers } from "../support/use-servers"
import { waitUntil } from "../support/wait-until"

const start = useServers()

describe("the server is killed", () => {
  let rewake: Rewake

  const spooled = (sessionId: string, text: string) =>
    readFileSync(join(rewake.dataDir, "sessions", `${sessionId}.messages.jsonl`), "utf8").includes(text)

  test("[L4] a streamed answer goes on: every number once, in order, from the same agent process", async () => {
    rewake = await start({ database: "postgresql" })
    const { session } = await rewake.createTask("count 200 15")
    const viewer = follow(rewake, session.id)
    await viewer.until((event) => event.kind === "message.delta" && event.content.includes(" 10"), "ten numbers")
    const agent = viewer.seen.find((event) => event.kind === "agent.started")?.pid as number
    const life = processStartTime(agent)
    expect(life).not.toBeNull()

    await rewake.kill9()
    // The agent goes on while no server is there; it is held before its end, or a slow start would come too late to adopt its run.
    await waitUntil(() => spooled(session.id, " 60"), "more numbers in the spool")
    process.kill(agent, "SIGSTOP")
    await rewake.boot()
    await viewer.until((event) => event.kind === "run.adopted", "the adoption")
    process.kill(agent, "SIGCONT")

    await viewer.until((event) => event.kind === "run.completed", "the run to end")
    const log = await rewake.events(session.id)
    expect(agentText(log)).toBe(numbers(200))
    expect(log.filter((event) => event.kind === "agent.started")).toHaveLength(1)
    expect(processStartTime(agent)).toBe(life)
    expect(log.filter((event) => event.kind === "run.adopted")).toHaveLength(1)
    expect(log.some((event) => event.kind === "run.interrupted")).toBe(false)

    // What the subscriber was pushed across the kill is the log: nothing missing, twice or out of order.
    await viewer.until((event) => event.seq === log.at(-1)?.seq, "the last event")
    expect(viewer.seen.map((event) => event.seq)).toEqual(log.map((event) => event.seq))
    expect(
      viewer.seen
        .filter((event) => event.kind === "message.delta")
        .map((event) => event.content)
        .join(""),
    ).toBe(numbers(200))
  })

  test("[L4] killed again and again while it streams, nothing is lost and nothing repeats", async () => {
    rewake = await start({ database: "postgresql" })
    const { session } = await rewake.createTask("count 120 40")
    const viewer = follow(rewake, session.id)
    for (const mark of [" 5", " 30", " 60"]) {
      await viewer.until((event) => event.kind === "message.delta" && event.content.split(" ").includes(mark.trim()), `the number${mark}`)
      await rewake.restart()
    }
    const log = await rewake.waitForRuns(session.id, 1)
    expect(agentText(log)).toBe(numbers(120))
    expect(log.map((event) => event.seq)).toEqual(log.map((_, i) => i + 1))
    await viewer.until((event) => event.kind === "run.completed", "the end at the viewer")
    expect(new Set(viewer.seen.map((event) => event.seq)).size).toBe(viewer.seen.length)
    expect(agentText(viewer.seen)).toBe(numbers(120))
  })

  test("[L1] a turn that ended while no server was there is told at the next start, and the queue goes on", async () => {
    rewake = await start({ database: "postgresql" })
    const { task, session } = await rewake.createTask("count 10 100")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the first number")
    await rewake.append(task.id, "remember apple")
    await rewake.append(task.id, "recall")
    await rewake.kill9()
    await daemonIdle(rewake, session.id)
    await rewake.boot()
    const log = await rewake.waitForRuns(session.id, 3)
    expect(log.filter((event) => event.kind === "run.completed")).toHaveLength(3)
    expect(agentText(log)).toContain(numbers(10))
    expect(agentText(log)).toContain("apple")
    const delivered = log.filter((event) => event.kind === "prompt.delivered").map((event) => event.prompt_id)
    expect(new Set(delivered).size).toBe(3)
  })

  test("[L1] a permission asked before the kill is still there after it, and its answer reaches the agent", async () => {
    rewake = await start({ database: "postgresql" })
    const { session } = await rewake.createTask("run echo from-the-agent")
    await rewake.waitForEvent(session.id, (event) => event.kind === "run.waiting", "the question")
    const [before] = (await rewake.session(session.id)).waits
    await rewake.restart()
    const view = await rewake.session(session.id)
    expect(view.status).toBe("waiting")
    const [wait] = view.waits
    expect(wait).toEqual(before)
    const allow = wait?.options.find((option) => option.kind === "allow_once")
    const answer = await rewake.api("POST", `/api/v1/sessions/${session.id}/waits/${wait?.token_id}`, {
      secret: wait?.secret,
      outcome: { kind: "selected", option_id: allow?.id },
    })
    expect(answer.status).toBe(202)
    const log = await rewake.waitForRuns(session.id, 1)
    expect(log.some((event) => event.kind === "run.completed")).toBe(true)
    expect(JSON.stringify(log.filter((event) => event.kind === "tool.update"))).toContain("from-the-agent")
  })

  test("[L1] an answer given just before the kill still reaches the agent", async () => {
    rewake = await start({ database: "postgresql" })
    const { session } = await rewake.createTask("ask Which colour?")
    await rewake.waitForEvent(session.id, (event) => event.kind === "run.waiting", "the question")
    const [wait] = (await rewake.session(session.id)).waits
    const option = wait?.options[1]
    const answered = rewake.api("POST", `/api/v1/sessions/${session.id}/waits/${wait?.token_id}`, {
      secret: wait?.secret,
      outcome: { kind: "selected", option_id: option?.id },
    })
    expect((await answered).status).toBe(202)
    await rewake.restart()
    const log = await rewake.waitForRuns(session.id, 1)
    expect(agentText(log)).toContain(option?.label)
    expect(log.filter((event) => event.kind === "token.consumed")).toHaveLength(1)
  })
})

/** Waits, without a server, until the daemon has no turn in progress. */
async function daemonIdle(rewake: Rewake, sessionId: string) {
  const { endpoint, secret } = rewake.daemon()
  for (;;) {
    const response = await fetch(`${endpoint}/sessions/${sessionId}`, { headers: { authorization: `Bearer ${secret}` } })
    const session = (await response.json()) as { run: unknown }
    if (session.run === null) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
