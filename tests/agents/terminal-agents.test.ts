import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { SessionStatusReport } from "../../lib/contracts/status"
import type { WorkerView } from "../../lib/contracts/workers"
import { openTerminal, type Viewer, view } from "../support/terminal"
import { waitUntil } from "../support/wait-until"
import { REAL_AGENTS } from "./agents"
import { killDaemon, openWorkbench, type Workbench } from "./workbench"

const PATIENCE_MS = 120_000

describe.each(REAL_AGENTS.flatMap(({ waits, ...agent }) => (waits ? [{ ...agent, waits }] : [])))("$id in a terminal", (agent) => {
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

  const look = async (worker: WorkerView): Promise<Viewer> => {
    const viewer = await view(bench.rewake, worker, { snapshot: true, cols: 100, rows: 30 })
    await settled(viewer)
    return viewer
  }
  const open = (input: object) => openTerminal(bench.rewake, sessionId, { type: "agent", ...input })

  /** A program that draws itself is ready for keys when its prompt is there and it has stopped drawing; one that never stops, after a while. */
  async function settled(viewer: Viewer) {
    const begun = Date.now()
    let [length, since] = [-1, begun]
    await waitUntil(
      () => {
        const now = screenOf(viewer).length
        if (now !== length) [length, since] = [now, Date.now()]
        if (viewer.exits.length > 0) throw new Error(`it ended: ${JSON.stringify([viewer.exits, screenOf(viewer)])}`)
        return agent.waits.test(screenOf(viewer)) && (Date.now() - since > 1500 || Date.now() - begun > 10_000)
      },
      "a program that waits for keys",
      PATIENCE_MS,
    )
  }
  const screenOf = (viewer: Viewer) => Buffer.from(viewer.attached?.snapshot ?? []).toString("utf8") + viewer.text()

  /** Types it as a person does, and gives what the model was sent. */
  async function say(viewer: Viewer, words: string): Promise<string> {
    await viewer.type(words)
    await settled(viewer)
    await viewer.type("\r")
    const [request] = await waitUntil(
      () => {
        const found = bench.model.asked(words)
        return found.length > 0 ? found : null
      },
      `the model to be asked: ${words} ${JSON.stringify(screenOf(viewer).slice(-800))}`,
      PATIENCE_MS,
    )
    await settled(viewer)
    return request?.body ?? ""
  }

  test("each tab remembers its own codeword after agentctl was killed; a fork knows it too, and a new session does not", async () => {
    const tabs = [await open({ agent: agent.id }), await open({ agent: agent.id })]
    const words = ["praline-2222", "fondant-3333"]
    for (const [at, tab] of tabs.entries()) await say(await look(tab), `Remember the codeword ${words[at]}.`)
    await killDaemon(bench.rewake)
    for (const [at, tab] of tabs.entries()) {
      const body = await say(await look(tab), `Question ${at}: the codeword?`)
      expect(body).toContain(words[at])
      expect(body).not.toContain(words[1 - at])
      expect(body).not.toContain("treacle-1111")
    }

    const copy = await open({ fork_of: tabs[0]?.id })
    const forked = await say(await look(copy), "Question of the fork: the codeword?")
    expect(forked).toContain(words[0])
    expect(forked).not.toContain(words[1])
    expect(await say(await look(tabs[0] as WorkerView), "Question after the fork: the codeword?")).not.toContain("Question of the fork")
    await killDaemon(bench.rewake)
    const again = await say(await look(copy), "Second question of the fork: the codeword?")
    expect(again).toContain("Question of the fork")
    expect(again).not.toContain("Question after the fork")

    const path = `/api/v1/sessions/${sessionId}/workers/${tabs[0]?.id}/restart`
    expect((await bench.rewake.api("POST", path, { continue: false })).status).toBe(202)
    expect(await say(await look(tabs[0] as WorkerView), "Question of a new session: the codeword?")).not.toContain(words[0])
  })
})
