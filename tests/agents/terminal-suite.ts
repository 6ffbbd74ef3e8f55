import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { SessionStatusReport } from "../../lib/contracts/status"
import type { WorkerView } from "../../lib/contracts/workers"
import { openTerminal, view } from "../support/terminal"
import { waitUntil } from "../support/wait-until"
import type { TerminalAgent } from "./agents"
import { Screen } from "./screen"
import { killDaemon, openWorkbench, type Workbench } from "./workbench"

const PATIENCE_MS = 120_000

/** Tabs in which the agent runs as its own program. */
export const testTerminal = (agent: TerminalAgent) =>
  describe(`${agent.id} in a terminal`, () => {
    let bench: Workbench
    let sessionId: string
    beforeAll(async () => {
      bench = await openWorkbench(agent)
      // A conversation of the same agent in the same folder: the newest there is not a tab's own.
      const { session } = await bench.rewake.createTask("Remember the codeword treacle-1111.", { agent: agent.id })
      await bench.rewake.waitForRuns(session.id, 1)
      sessionId = session.id
      const { body } = await bench.rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${sessionId}/status`)
      agent.trust(bench.home, body.worktree_path ?? "")
    }, PATIENCE_MS)
    afterAll(() => bench?.stop())

    const open = (input: object) => openTerminal(bench.rewake, sessionId, { type: "agent", ...input })
    const answerTo = (words: string) => `You said: ${words}`

    /** Types the words as a user does, once the tab's program is ready and shows `shown`; gives what the model was sent. */
    async function say(tab: WorkerView | undefined, words: string, shown: string[] = []): Promise<string> {
      if (!tab) throw new Error("there is no such tab")
      const viewer = await view(bench.rewake, tab, { snapshot: true, cols: 100, rows: 30 })
      const screen = new Screen(viewer)
      const until = async (what: string, isThere: (text: string) => unknown) => {
        let text = ""
        const look = async () => {
          text = await screen.text()
          if (viewer.exits.length > 0) throw new Error(`it ended: ${JSON.stringify(viewer.exits)}\n${text}`)
          return Boolean(isThere(text))
        }
        await waitUntil(look, what, PATIENCE_MS).catch((error) => Promise.reject(new Error(`${error.message}; on the screen:\n${text}`)))
      }
      await until(
        `a program that waits for words and shows ${JSON.stringify(shown)}`,
        (text) => agent.waits.test(text) && shown.every((part) => text.includes(part)),
      )
      await viewer.type(words)
      await until(`the typed words: ${words}`, (text) => text.includes(words))
      await viewer.type("\r")
      await until(`the answer to: ${words}`, (text) => text.includes(answerTo(words)))
      // What it has not written yet, nobody can bring back after a kill.
      await waitUntil(() => agent.remembers(bench.home, answerTo(words)), `the agent to write down the answer to: ${words}`)
      viewer.socket.disconnect()
      const [asked] = bench.model.asked(words)
      return asked?.body ?? ""
    }

    test("after kills of agentctl each tab and fork remembers its own codeword; a new session knows none", async () => {
      const tabs = [await open({ agent: agent.id }), await open({ agent: agent.id })]
      const words = ["praline-2222", "fondant-3333"]
      const told = words.map((word) => `Remember the codeword ${word}.`)
      for (const [at, tab] of tabs.entries()) await say(tab, told[at] ?? "")
      await killDaemon(bench.rewake)
      for (const [at, tab] of tabs.entries()) {
        const body = await say(tab, `Question ${at}: the codeword?`, [answerTo(told[at] ?? "")])
        expect(body).toContain(words[at])
        expect(body).not.toContain(words[1 - at])
        expect(body).not.toContain("treacle-1111")
      }

      const copy = await open({ fork_of: tabs[0]?.id })
      const forked = await say(copy, "Question of the fork: the codeword?", [answerTo("Question 0")])
      expect(forked).toContain(words[0])
      expect(forked).not.toContain(words[1])
      expect(await say(tabs[0], "Question after the fork: the codeword?")).not.toContain("Question of the fork")
      await killDaemon(bench.rewake)
      const again = await say(copy, "Second question of the fork: the codeword?", [answerTo("Question of the fork")])
      expect(again).toContain("Question of the fork")
      expect(again).not.toContain("Question after the fork")

      const path = `/api/v1/sessions/${sessionId}/workers/${tabs[0]?.id}/restart`
      expect((await bench.rewake.api("POST", path, { continue: false })).status).toBe(202)
      expect(await say(tabs[0], "Question of a new session: the codeword?")).not.toContain(words[0])
    })
  })
