import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { SessionSetup } from "../../lib/contracts/agent-setup"
import type { SessionEvent } from "../../lib/contracts/events"
import type { Wait } from "../../lib/contracts/waits"
import { attach, DOT } from "../support/attachments"
import { ofKind } from "../support/events"
import { agentText, follow } from "../support/server"
import { waitUntil } from "../support/wait-until"
import type { RealAgent } from "./agents"
import { expectNothingTwice, killAgent, killDaemon, lastReceipt, openWorkbench, type Workbench } from "./workbench"

const CODEWORD = "marzipan-7319"

/** An agent spoken to by protocol: what it says, asks and remembers. */
export const testConversation = (agent: RealAgent) =>
  describe(agent.id, () => {
    let bench: Workbench
    beforeAll(async () => {
      bench = await openWorkbench(agent)
    })
    afterAll(() => bench?.stop())

    test("an answer arrives in pieces, as the model streams it", async () => {
      const { rewake, model } = bench
      const { session } = await rewake.createTask("COUNT SLOWLY TO 12", { agent: agent.id })
      const viewer = follow(rewake, session.id)
      await rewake.waitForRuns(session.id, 1)
      await viewer.until((event) => event.kind === "run.completed", "the end of the turn")
      const pieces = viewer.seen.filter((event) => event.kind === "message.delta")
      expect(pieces.length).toBeGreaterThan(3)
      expect(agentText(await rewake.events(session.id))).toContain("1 2 3 4 5 6 7 8 9 10 11 12")
      expect(model.asked("COUNT SLOWLY TO 12")).toHaveLength(1)
    })

    test("a command is asked about, and runs when a person allows it", async () => {
      const { rewake, model } = bench
      const { session } = await rewake.createTask("RUN `echo made-$((40+2)) > made.txt; cat made.txt`", { agent: agent.id })
      const asked = await rewake.waitForEvent(session.id, (event) => event.kind === "run.waiting", "the question")
      const { waits } = await rewake.session(session.id)
      const { token_id, secret, options, wait_kind } = waits[0] as Wait
      expect(wait_kind).toBe("permission")
      const made = join(ofKind(asked, "executor.ready")[0]?.worktree_path ?? "", "made.txt")
      expect(existsSync(made)).toBe(false)
      const option_id = options.find(({ kind }) => kind === "allow_once")?.id
      const answered = await rewake.api("POST", `/api/v1/sessions/${session.id}/waits/${token_id}`, {
        secret,
        outcome: { kind: "selected", option_id },
      })
      expect(answered.status).toBe(202)
      const log = await rewake.waitForRuns(session.id, 1)
      expect(existsSync(made)).toBe(true)
      expect(agentText(log)).toContain("made-42")
      expect(ofKind(log, "tool.update").at(-1)?.status).toBe("completed")
      expect(model.asked("made-$((40+2))").at(-1)?.body).toContain("made-42")
    })

    test("a picture and a text that go with a message are in what the model is sent", async () => {
      const { rewake, model } = bench
      const shot = await attach(rewake, "shot.png", DOT)
      const notes = await attach(rewake, "notes.txt", Buffer.from("the notes say quince-5520"), "text/plain")
      const { session } = await rewake.createTask("WHAT IS IN THESE", { agent: agent.id, attachments: [shot.id, notes.id] })
      const log = await rewake.waitForRuns(session.id, 1)
      expect(ofKind(log, "run.completed")).toHaveLength(1)
      // Some agents say the files after the words: those need not come last.
      const asked = model.requests.filter(({ conversation, body }) => conversation.tools.length > 0 && body.includes("WHAT IS IN THESE"))
      const body = asked.at(-1)?.body ?? ""
      expect(body).toContain(DOT.toString("base64"))
      expect(body).toContain("quince-5520")
    })

    test("a killed agent is resumed in the mode that was set, with its MCP server", async () => {
      const { rewake, model, home } = bench
      const log = join(home, "mcp.log")
      const server = { transport: "stdio", command: process.execPath, args: [resolve("tests/agents/mcp-server.mjs")] }
      const put = await rewake.api("PUT", "/api/v1/admin/mcp-servers/pantry", {
        server,
        values: { MCP_KEY: "key-for-pantry", MCP_LOG: log },
      })
      expect(put.status).toBe(204)
      const { task, session } = await rewake.createTask("Good morning.", { agent: agent.id })
      await rewake.waitForRuns(session.id, 1)
      const setup = async () => (await rewake.api<SessionSetup>("GET", `/api/v1/sessions/${session.id}/setup`)).body
      const mode = async () => (await setup()).options.find(({ category }) => category === "mode")
      const before = await mode()
      if (before?.type !== "select") throw new Error("it offers no modes")
      const other = before.choices.find(({ value }) => value !== before.current && !/bypass|full|danger|auto/i.test(value))?.value ?? ""
      const chosen = await rewake.api("PATCH", `/api/v1/sessions/${session.id}/setup`, { options: { [before.id]: other } })
      expect(chosen.status).toBe(202)
      await waitUntil(async () => (await mode())?.current === other, `the mode ${other}`)
      expect((await setup()).mcp_servers).toEqual([{ name: "pantry", given: true }])

      await killAgent(rewake, session.id)
      await rewake.append(task.id, "Good evening.")
      expect(lastReceipt(await rewake.waitForRuns(session.id, 2))).toMatchObject({ agent_memory: "native" })
      expect((await mode())?.current).toBe(other)
      expect((await setup()).mcp_servers).toEqual([{ name: "pantry", given: true }])
      // Some agents name its tools to their model, some the server alone.
      expect(model.asked("Good evening.").at(-1)?.body).toContain("pantry")
      const starts = readFileSync(log, "utf8").trim().split("\n")
      expect(starts.length).toBeGreaterThan(1)
      expect(new Set(starts)).toEqual(new Set(["key-for-pantry"]))
      expect((await rewake.api("DELETE", "/api/v1/admin/mcp-servers/pantry")).status).toBe(204)
    })

    test("a model that fails ends the turn with a reason, and the next one goes on", async () => {
      const { rewake } = bench
      const { task, session } = await rewake.createTask("FAIL WITH 400", { agent: agent.id })
      const log = await rewake.waitForRuns(session.id, 1)
      expect(JSON.stringify(log)).toContain("the script says 400")
      await rewake.append(task.id, "Are you there?")
      expect(agentText(await rewake.waitForRuns(session.id, 2))).toContain("You said: Are you there?")
    })

    /** The proof is what the model was sent: nobody's word that something was remembered counts. */
    function expectRecalled(question: string) {
      const asked = bench.model.asked(question)
      expect(asked).toHaveLength(1)
      expect(asked[0]?.body).toContain(CODEWORD)
      // From the agent's own memory: the message itself carried no history.
      expect(
        asked[0]?.conversation.said.filter(({ role, text }) => role === "user" && text.includes(question) && text.includes(CODEWORD)),
      ).toEqual([])
    }

    test("remembers after kills of the agent, agentctl, the server and all of them; nothing is sent twice", async () => {
      const { rewake, model } = bench
      const said = [`Remember the codeword ${CODEWORD}.`]
      const { task, session } = await rewake.createTask(said[0] as string, { agent: agent.id })
      await rewake.waitForRuns(session.id, 1)
      const say = async (words: string) => {
        said.push(words)
        await rewake.append(task.id, words)
      }

      await killAgent(rewake, session.id)
      await say("First question: the codeword?")
      let log = await rewake.waitForRuns(session.id, 2)
      expectRecalled("First question")
      expect(lastReceipt(log)).toMatchObject({ receipt_kind: "resume", agent_memory: "native" })

      /** Says it, and settles when the answer to it has begun to arrive. */
      const sayUntilAnswered = async (words: string) => {
        const from = (await rewake.events(session.id)).at(-1)?.seq ?? 0
        await say(words)
        const isAnswer = (event: SessionEvent) => event.kind === "message.delta" && event.seq > from && /\b5 /.test(event.content)
        await rewake.waitForEvent(session.id, isAnswer, `the beginning of the answer to: ${words}`)
      }

      await sayUntilAnswered("COUNT TO 301, HOLD EVERY 20")
      await killDaemon(rewake)
      await say("Second question: the codeword?")
      log = await rewake.waitForRuns(session.id, 4)
      expect(ofKind(log, "run.interrupted")).toHaveLength(1)
      expect(ofKind(log, "message.agent").filter((event) => event.partial)).toHaveLength(1)
      expect(model.asked("COUNT TO 301")).toHaveLength(1)
      expectRecalled("Second question")
      expect(lastReceipt(log)).toMatchObject({ receipt_kind: "resume", agent_memory: "native" })

      await sayUntilAnswered("COUNT TO 62, HOLD EVERY 20")
      await rewake.kill9()
      // The agent goes on without a server, and is still in mid-turn when there is one again.
      await model.letGoOn()
      await rewake.boot()
      const isRecovery = (event: SessionEvent) => event.kind === "recovery.receipt" && event.receipt_kind === "recover"
      await rewake.waitForEvent(session.id, isRecovery, "the receipt of the recovery")
      await model.letGoOn()
      await model.letGoOn()
      log = await rewake.waitForRuns(session.id, 5)
      expect(ofKind(log, "run.interrupted")).toHaveLength(1)
      expect(lastReceipt(log)).toMatchObject({ receipt_kind: "recover", agent_memory: "kept" })
      expect(ofKind(log, "message.agent").at(-1)?.content).toMatch(/^1 2 3 .* 61 62 ?$/)

      await rewake.kill9()
      await killDaemon(rewake)
      await rewake.boot()
      await say("Third question: the codeword?")
      log = await rewake.waitForRuns(session.id, 6)
      expectRecalled("Third question")
      expect(lastReceipt(log)).toMatchObject({ receipt_kind: "resume", agent_memory: "native" })
      expect(model.asked("COUNT TO 62")).toHaveLength(1)
      expect(ofKind(log, "agent.session_retired")).toEqual([])
      expectNothingTwice(log, said)
    })

    test("when its own session is gone, the receipt says so, its id is retired and nothing of ours is lost", async () => {
      const { rewake, model, home } = bench
      const { task, session } = await rewake.createTask("Remember the codeword nougat-2204.", { agent: agent.id })
      const before = await rewake.waitForRuns(session.id, 1)
      await killAgent(rewake, session.id)
      const id = ofKind(before, "agent.session_announced").at(-1)?.agent_session_id ?? ""
      agent.loseSession(home, id)
      expect((await rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, {})).status).toBe(202)
      let log = await rewake.waitForEvent(session.id, (event) => event.kind === "recovery.receipt", "the receipt")
      expect(ofKind(log, "agent.session_retired").map((event) => event.agent_session_id)).toEqual([id])
      expect(lastReceipt(log)?.agent_memory).not.toBe("native")
      expect(lastReceipt(log)?.attempts[0]).toMatchObject({
        strategy: "native",
        outcome: expect.stringMatching(/^agent_session_(rejected|forgotten)$/),
      })
      expect(await rewake.session(session.id)).toMatchObject({ state: "WAITING_FOR_INPUT" })
      await rewake.append(task.id, "Is anybody there?")
      log = await rewake.waitForRuns(session.id, 2)
      expect(model.asked("Is anybody there?")).toHaveLength(1)
      expectNothingTwice(log, ["Remember the codeword nougat-2204.", "Is anybody there?"])
    })
  })
