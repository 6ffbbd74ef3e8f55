import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { InstallState } from "../../lib/contracts/agents"
import { AppError } from "../../lib/contracts/errors"
import { withUmaskOfUsers } from "../../lib/host/umask"
import { writePrivateFile } from "../../lib/host/write-private-file"
import type { Logger } from "../platform/logger"
import type { AgentDefinition } from "./agent"
import { isExecutable } from "./find-program"
import { FetchedPackages, packagesToFetch } from "./npm-progress"

/** A folder that no installation finished for so long belongs to one that was killed. */
const ABANDONED_MS = 6 * 3600_000
const QUIET = ["--no-audit", "--no-fund", "--no-update-notifier"]
/** A script of any package far down the tree would run with the server's own rights. */
const NO_SCRIPTS = "--ignore-scripts"

/**
 * Agents brought from npm, each in a folder of its own under `folder`, never on anybody's PATH. An installation is made beside
 * the one in use and takes its place with one rename; an agent that runs from the earlier one keeps its files.
 */
export function createInstalls({ folder, env, logger }: { folder: string; env: Record<string, string>; logger: Logger }) {
  const states = new Map<string, InstallState>()
  const children = new Set<ChildProcess>()
  const currentFile = (id: string) => join(folder, `${id}.json`)

  const current = (id: string): string | null => {
    try {
      const { name } = JSON.parse(readFileSync(currentFile(id), "utf8")) as { name: string }
      return existsSync(join(folder, name)) ? name : null
    } catch {
      return null
    }
  }

  function npm(cwd: string, args: string[], onOutput: (text: string) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = withUmaskOfUsers(() => spawn("npm", args, { cwd, env: env as NodeJS.ProcessEnv, stdio: ["ignore", "ignore", "pipe"] }))
      children.add(child)
      let tail = ""
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        onOutput(text)
        tail = (tail + text).slice(-4000)
      })
      child.once("error", (error) => reject(error))
      child.once("close", (code) => {
        children.delete(child)
        if (code === 0) resolve()
        else reject(new Error(lastError(tail) ?? `npm ended with code ${code}`))
      })
    })
  }

  async function install(agent: AgentDefinition): Promise<void> {
    const { id } = agent
    const say = (step: string, percent: number | null = null) => states.set(id, { state: "running", step, percent })
    say("Looking up packages")
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    removeAbandoned(folder, id)
    const name = `${id}-${randomUUID().slice(0, 8)}`
    const place = join(folder, name)
    mkdirSync(place, { mode: 0o700 })
    try {
      const dependencies = Object.fromEntries(agent.packages.map((p) => [p.name, p.version]))
      // Newer versions of npm ask for this list, too.
      const allowScripts = Object.fromEntries(agent.install_scripts.map((name) => [name, true]))
      writeFileSync(join(place, "package.json"), JSON.stringify({ private: true, dependencies, allowScripts }))
      await npm(place, ["install", "--package-lock-only", NO_SCRIPTS, "--loglevel=error", ...QUIET], () => undefined)
      const total = packagesToFetch(JSON.parse(readFileSync(join(place, "package-lock.json"), "utf8")), process)
      const fetched = new FetchedPackages()
      say("Fetching packages", 0)
      await npm(place, ["ci", NO_SCRIPTS, "--loglevel=http", ...QUIET], (text) => {
        fetched.take(text)
        say("Fetching packages", Math.min(99, Math.floor((100 * fetched.count) / Math.max(1, total))))
      })
      if (agent.install_scripts.length > 0)
        await npm(place, ["rebuild", "--ignore-scripts=false", "--loglevel=error", ...QUIET, ...agent.install_scripts], () => undefined)
      for (const { program } of [agent.acp, agent.terminal].filter((p) => p !== null)) {
        if (!isExecutable(binOf(place, program))) throw new Error(`The packages came without the program ${program}.`)
      }
      const before = current(id)
      writePrivateFile(currentFile(id), JSON.stringify({ name }))
      removeOthers(folder, id, [name, ...(before ? [before] : [])])
      states.delete(id)
      logger.info({ agent: id }, "agent installed")
    } catch (error) {
      rmSync(place, { recursive: true, force: true })
      states.set(id, { state: "failed", message: (error as Error).message })
      logger.warn({ agent: id, err: error }, "agent could not be installed")
    }
  }

  return {
    /** Begins, or joins the one that is under way. */
    start(agent: AgentDefinition): void {
      if (agent.packages.length === 0)
        throw new AppError("AGENT_UNAVAILABLE", `${agent.name} is not to be had from npm.`, { agent: agent.id })
      if (states.get(agent.id)?.state !== "running") void install(agent)
    },
    state: (id: string): InstallState | null => states.get(id) ?? null,
    find(id: string, program: string): string | null {
      const name = current(id)
      const file = name ? binOf(join(folder, name), program) : ""
      return name && isExecutable(file) ? file : null
    },
    /** What it has fetched is thrown away; the one in use stays. */
    close(): void {
      for (const child of children) child.kill("SIGTERM")
    },
  }
}
export type Installs = ReturnType<typeof createInstalls>

const binOf = (place: string, program: string) => join(place, "node_modules", ".bin", program)

const lastError = (output: string): string | null =>
  output
    .split("\n")
    .filter((line) => /^npm (error|ERR!)/.test(line) && !/complete log|debug-0\.log/.test(line))
    .map((line) => line.replace(/^npm (error|ERR!)\s*/, ""))
    .filter(Boolean)
    .slice(0, 3)
    .join(" ") || null

const placesOf = (folder: string, id: string) =>
  readdirSync(folder).filter((name) => name.startsWith(`${id}-`) && /^[a-f0-9]{8}$/.test(name.slice(id.length + 1)))

/** npm writes this last. */
const isFinished = (place: string) => existsSync(join(place, "node_modules", ".package-lock.json"))

function removeAbandoned(folder: string, id: string) {
  for (const name of placesOf(folder, id)) {
    const place = join(folder, name)
    if (!isFinished(place) && Date.now() - statSync(place).mtimeMs > ABANDONED_MS) rmSync(place, { recursive: true, force: true })
  }
}

function removeOthers(folder: string, id: string, keep: string[]) {
  for (const name of placesOf(folder, id)) {
    const place = join(folder, name)
    if (!keep.includes(name) && isFinished(place)) rmSync(place, { recursive: true, force: true })
  }
}
