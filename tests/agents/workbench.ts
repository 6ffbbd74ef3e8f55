import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { expect } from "vitest"
import type { SessionEvent } from "../../lib/contracts/events"
import { processStartTime } from "../../lib/host/process-identity"
import { ofKind } from "../support/events"
import { Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"
import { homeEnvironment, type RealAgent } from "./agents"
import { type Model, startModel } from "./model/server"

export type Workbench = { rewake: Rewake; model: Model; home: string; stop: () => Promise<void> }

/** A real Rewake for one real agent whose model is scripted and whose home is a temporary folder. */
export async function openWorkbench(agent: RealAgent): Promise<Workbench> {
  const installed = process.env.REWAKE_TEST_AGENTS
  if (!installed) throw new Error("npm run test:agents installs the agents and says where they are")
  const home = mkdtempSync(join(tmpdir(), "rewake-home-"))
  mkdirSync(join(home, "tmp"))
  const model = await startModel()
  const env = {
    ...homeEnvironment(home),
    ...agent.configure({ folder: home, model_url: model.url }),
    PATH: `${installed}${delimiter}${process.env.PATH}`,
  }
  const rewake = await Rewake.start({ env })
  // Two starts in a row of the slowest agent, on a machine that has other things to do.
  rewake.patienceMs = 120_000
  const stop = async () => {
    await rewake.stop()
    await model.stop()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
  return { rewake, model, home, stop }
}

export const lastReceipt = (log: readonly SessionEvent[]) => ofKind(log, "recovery.receipt").at(-1)

/** kill -9 of the session's agent process; returns when the journal knows. */
export async function killAgent(rewake: Rewake, sessionId: string): Promise<void> {
  const started = ofKind(await rewake.events(sessionId), "agent.started").at(-1)
  if (!started?.pid) throw new Error("there is no agent to kill")
  process.kill(started.pid, "SIGKILL")
  const { agent_execution_id } = started
  await rewake.waitForEvent(
    sessionId,
    (event) => event.kind === "agent.exited" && event.agent_execution_id === agent_execution_id,
    "the agent's end",
  )
}

/** kill -9 of agentctl; returns when the process is gone. The server notices by itself. */
export async function killDaemon(rewake: Rewake): Promise<void> {
  const { pid, start_time } = rewake.daemon()
  process.kill(pid, "SIGKILL")
  await waitUntil(() => processStartTime(pid) !== start_time, "agentctl's end")
}

/** Every message, answer and tool call stands in the journal once, however often the agent repeated its past. */
export function expectNothingTwice(log: readonly SessionEvent[], said: readonly string[]) {
  expect(ofKind(log, "message.user").map((event) => event.content)).toEqual(said)
  const answers = ofKind(log, "message.agent").map((event) => event.content)
  expect(answers.filter((content, at) => answers.indexOf(content) !== at)).toEqual([])
  const calls = ofKind(log, "tool.call").map((event) => event.tool_call_id)
  expect(calls.filter((id, at) => calls.indexOf(id) !== at)).toEqual([])
  const ends = log.flatMap((event) =>
    /^run\.(completed|failed|cancelled|interrupted)$/.test(event.kind) && "run_id" in event ? [event.run_id] : [],
  )
  expect(ends.filter((id, at) => ends.indexOf(id) !== at)).toEqual([])
}
