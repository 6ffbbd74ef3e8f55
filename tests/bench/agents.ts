import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { vendorAgents } from "../../server/agents/built-in"
import { homeEnvironment, REAL_AGENTS, type RealAgent } from "../agents/agents"
import { startModel } from "../agents/model/server"
import { Rewake } from "../support/server"
import { bareTakeUp } from "./bare-agent"
import type { Figure } from "./main"
import { measureResumption } from "./resumption"

const ROUNDS = 5
const PATIENCE_MS = 120_000

/** Real agents, as far as `npm run test:agents` has installed them: how long they take to come back, and what they and we hold. */
export async function measureAgents(): Promise<Figure[]> {
  const installed = (process.env.REWAKE_TEST_AGENTS ?? "").split(delimiter).filter(Boolean)
  const figures: Figure[] = []
  for (const agent of REAL_AGENTS) {
    const programs = installed.find((folder) => folder.includes(`${agent.id}-`))
    if (programs) figures.push(...(await measureOne(agent, programs)))
  }
  return figures
}

async function measureOne(agent: RealAgent, programs: string): Promise<Figure[]> {
  const definition = vendorAgents.find(({ id }) => id === agent.id)
  if (!definition?.acp) return []
  const home = mkdtempSync(join(tmpdir(), "rewake-home-"))
  mkdirSync(join(home, "tmp"))
  const model = await startModel()
  const own = { ...homeEnvironment(home), ...agent.configure({ folder: home, model_url: model.url }) }
  const env = { ...own, PATH: `${programs}${delimiter}${process.env.PATH}` }
  const rewake = await Rewake.start({ env })
  try {
    const { session } = await rewake.createTask("Hello.", { agent: agent.id })
    const { acp, name } = definition
    const figure = await measureResumption(rewake, session.id, {
      what: `${name} comes back, click to ready`,
      rounds: ROUNDS,
      patienceMs: PATIENCE_MS,
      bare: ({ agentSessionId, started }) => {
        const cwd = workspaceOf(rewake)
        const program = {
          command: join(programs, acp.program),
          args: [...acp.args],
          cwd,
          env: { ...process.env, ...env } as NodeJS.ProcessEnv,
        }
        return bareTakeUp(program, started.capabilities.resume ? "session/resume" : "session/load", agentSessionId)
      },
    })
    return [figure, await memory(rewake, session.id, name)]
  } finally {
    await rewake.stop()
    await model.stop()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The only session there is has the only workspace. */
function workspaceOf(rewake: Rewake): string {
  const root = join(rewake.dataDir, "workspaces")
  const task = join(root, readdirSync(root)[0] ?? "")
  return join(task, readdirSync(task)[0] ?? "")
}

async function memory(rewake: Rewake, sessionId: string, name: string): Promise<Figure> {
  const started = (await rewake.events(sessionId)).findLast((event) => event.kind === "agent.started")
  const agent = started?.kind === "agent.started" && started.pid ? treeOf(started.pid) : []
  const ours = [rewake.daemon().pid, rewake.child?.pid ?? 0]
  const megabytes = (pids: readonly number[]) => `${Math.round(pids.reduce((sum, pid) => sum + residentBytes(pid), 0) / 1024 / 1024)} MB`
  return {
    what: `${name}, memory at rest`,
    ours: `${megabytes(ours)} server and agentctl`,
    baseline: `${megabytes(agent)} the agent`,
    ratio: "–",
    aim: "–",
  }
}

function treeOf(root: number): number[] {
  const parents = new Map<number, number>()
  for (const pid of readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)) {
    const parent = /^PPid:\s+(\d+)/m.exec(statusOf(pid))?.[1]
    if (parent) parents.set(pid, Number(parent))
  }
  const inTree = (pid: number): boolean => pid === root || (parents.has(pid) && inTree(parents.get(pid) as number))
  return [...parents.keys()].filter(inTree)
}

const residentBytes = (pid: number): number => Number(/^VmRSS:\s+(\d+) kB/m.exec(statusOf(pid))?.[1] ?? 0) * 1024
function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8")
  } catch {
    return ""
  }
}
