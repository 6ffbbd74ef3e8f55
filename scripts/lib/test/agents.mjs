// The real agents that tests and figures use: installed once from npm, outside the checkout, never into a person's own setup.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { delimiter, join } from "node:path"
import { withLock } from "../lock.mjs"
import { runQuietly, StepFailed, seconds } from "../steps.mjs"

const { platform, arch } = process
/** `scripts`: packages whose install script is needed, to put the platform's binary in place. `programs`: where else its programs lie. */
export const AGENTS = [
  { id: "opencode", package: "opencode-ai", version: "1.18.33", scripts: ["opencode-ai"] },
  { id: "codex", package: "@agentclientprotocol/codex-acp", version: "2.6.0", scripts: [] },
  {
    ...{ id: "claude-code", package: "@agentclientprotocol/claude-agent-acp", version: "0.99.1", scripts: [] },
    programs: [`@anthropic-ai/claude-agent-sdk-${platform}-${arch}`],
  },
]
const PROGRESS_MS = 5000

const cache = () => join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "rewake", "agents")
const folderOf = ({ id, version }) => join(cache(), `${id}-${version}-${platform}-${arch}`)
const programs = (agent) => [".bin", ...(agent.programs ?? [])].map((folder) => join(folderOf(agent), "node_modules", folder))
const isInstalled = (agent) => existsSync(folderOf(agent))

/** Sees to it that all of them are there; gives the variable that tells tests where. */
export async function obtainAgents(steps) {
  const onWait = (pid) => steps.say("waiting", `for another install of agents (process ${pid})`)
  await withLock(
    onWait,
    async (onSpawn) => {
      for (const agent of AGENTS) {
        if (isInstalled(agent)) steps.upToDate(agent.id)
        else await install(agent, steps, onSpawn)
      }
    },
    join(cache(), "install.lock"),
  )
  return whereAgentsAre(AGENTS)
}

/** Those that are there already; nothing is installed. */
export const installedAgents = () => AGENTS.filter(isInstalled)
export const whereAgentsAre = (agents) => ({ REWAKE_TEST_AGENTS: agents.flatMap(programs).join(delimiter) })

/** The folder gets its name when it is whole: a killed install leaves nothing that looks like an agent. */
async function install(agent, steps, onSpawn) {
  const { id, version, scripts } = agent
  const staging = join(cache(), `${id}.installing`)
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging, { recursive: true })
  const allowScripts = Object.fromEntries(scripts.map((name) => [name, true]))
  writeFileSync(join(staging, "package.json"), JSON.stringify({ private: true, dependencies: { [agent.package]: version }, allowScripts }))
  steps.say(id, `installing ${agent.package} ${version} from npm, once`)
  const started = performance.now()
  const progress = setInterval(() => steps.say(id, `${megabytes(staging)} MB after ${seconds(performance.now() - started)}`), PROGRESS_MS)
  try {
    const args = ["install", "--prefix", staging, "--no-audit", "--no-fund", "--loglevel=error"]
    await steps.run(id, () => runQuietly("npm", args, { cwd: staging, onSpawn }))
  } catch (error) {
    rmSync(staging, { recursive: true, force: true })
    throw new StepFailed(`${error.message}\n\n${agent.package} ${version} could not be installed, and is not in ${cache()} yet.`)
  } finally {
    clearInterval(progress)
  }
  for (const name of readdirSync(cache())) if (name.startsWith(`${id}-`)) rmSync(join(cache(), name), { recursive: true, force: true })
  renameSync(staging, folderOf(agent))
}

function megabytes(folder) {
  let bytes = 0
  try {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size
  } catch {
    // npm moved something meanwhile: what was counted so far is a figure of progress all the same.
  }
  return Math.round(bytes / 1024 / 1024)
}
