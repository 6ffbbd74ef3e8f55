import { accessSync, constants } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"
import { AppError } from "../../lib/contracts/errors"
import type { AgentId, AgentInfo } from "../../lib/contracts/task"
import type { AgentDefinition } from "./agent"

type Traits = Omit<AgentDefinition, "id" | "command" | "env" | "terminal" | "session_files">
const none = () => []
const onPath = (program: string, ...args: string[]) => ({ command: { program, args }, env: {}, session_files: none })

const inTerminal =
  (file: string, again: readonly string[]): NonNullable<AgentDefinition["terminal"]> =>
  (tab) => ({ file, args: tab.continue ? [...again] : [], env: {} })

/** One file per conversation; an id that is none of the demo agent's would be a path of somebody's choosing. */
const demoFiles: AgentDefinition["session_files"] = (id, { data_dir }) =>
  /^demo_[a-f0-9-]{36}$/.test(id) ? [{ path: join(data_dir, "demo-agent", `${id}.jsonl`), as: `${id}.jsonl` }] : []

/** `programs` is the folder this build's own programs run from; they must outlive the next install. */
export function createAgentRegistry(options: { programs: string; demo: boolean; path: string; node: string }) {
  const demo = (id: "demo" | "demo-inject" | "demo-forgetful", traits: Traits): AgentDefinition => ({
    id,
    ...traits,
    command: options.demo ? { program: options.node, args: [join(options.programs, "demo-agent.mjs"), "--variant", id] } : null,
    env: {},
    terminal:
      options.demo && traits.native_session_resume
        ? (tab) => ({
            file: options.node,
            args: [join(options.programs, "demo-agent.mjs"), "--terminal", ...(tab.continue ? ["--continue"] : [])],
            env: {},
          })
        : null,
    session_files: traits.native_session_resume ? demoFiles : none,
  })
  const native = { native_session_resume: true, history_context_injection: false }
  const injected = { native_session_resume: false, history_context_injection: true }

  const agents = {
    demo: demo("demo", { name: "Demo", description: "Ships with Rewake. Needs no model and no account.", ...native }),
    "demo-inject": demo("demo-inject", {
      name: "Demo, injected",
      description: "Cannot load its own session; history is handed to it.",
      ...injected,
    }),
    "demo-forgetful": demo("demo-forgetful", {
      name: "Demo, forgetful",
      description: "Cannot come back at all.",
      native_session_resume: false,
      history_context_injection: false,
    }),
    "claude-code": {
      id: "claude-code",
      name: "Claude Code",
      description: "Anthropic's coding agent.",
      ...onPath("claude-agent-acp"),
      terminal: inTerminal("claude", ["--continue"]),
      ...native,
    },
    codex: {
      id: "codex",
      name: "Codex",
      description: "OpenAI's coding agent.",
      ...onPath("codex-acp"),
      terminal: inTerminal("codex", ["resume", "--last"]),
      ...native,
    },
    opencode: {
      id: "opencode",
      name: "OpenCode",
      description: "The open source coding agent.",
      ...onPath("opencode", "acp"),
      terminal: inTerminal("opencode", ["--continue"]),
      ...native,
    },
    gemini: {
      id: "gemini",
      name: "Gemini",
      description: "Google's coding agent.",
      ...onPath("gemini", "--acp"),
      terminal: inTerminal("gemini", ["--resume", "latest"]),
      ...native,
    },
    copilot: {
      id: "copilot",
      name: "Copilot",
      description: "GitHub's coding agent.",
      ...onPath("copilot", "--acp"),
      terminal: inTerminal("copilot", ["--continue"]),
      ...native,
    },
    auggie: {
      id: "auggie",
      name: "Auggie",
      description: "Augment's coding agent.",
      ...onPath("auggie", "--acp"),
      terminal: inTerminal("auggie", ["--continue"]),
      ...injected,
    },
    amp: {
      id: "amp",
      name: "Amp",
      description: "Sourcegraph's coding agent, in a terminal.",
      command: null,
      env: {},
      terminal: inTerminal("amp", ["threads", "continue"]),
      session_files: none,
      native_session_resume: false,
      history_context_injection: false,
    },
  } satisfies Record<AgentId, AgentDefinition>

  const unavailableReason = (agent: AgentDefinition): string | null => {
    if (!agent.command) return agent.id === "amp" ? "It runs in a terminal only." : "The demo agents are switched off."
    return isExecutable(agent.command.program, options.path) ? null : `The command ${agent.command.program} is not on this machine.`
  }

  /** The command depends on the tab; whether the program is there does not. */
  const terminalProblem = (agent: AgentDefinition): string | null => {
    if (!agent.terminal) return "It does not run in a terminal."
    const { file } = agent.terminal({ worker_id: "", continue: false })
    return isExecutable(file, options.path) ? null : `The command ${file} is not on this machine.`
  }

  return {
    get: (id: AgentId): AgentDefinition => agents[id],
    /** The command to start, or a clear refusal before anything is written. */
    require(id: AgentId) {
      const agent: AgentDefinition = agents[id]
      const reason = unavailableReason(agent)
      if (reason || !agent.command) throw new AppError("AGENT_UNAVAILABLE", `${agent.name} cannot be started. ${reason}`, { agent: id })
      return { ...agent, command: agent.command }
    },
    requireTerminal(id: AgentId) {
      const agent: AgentDefinition | undefined = agents[id]
      const reason = agent ? terminalProblem(agent) : "There is no such agent."
      if (reason || !agent?.terminal)
        throw new AppError("AGENT_UNAVAILABLE", `${agent?.name ?? id} cannot be opened in a terminal. ${reason}`, { agent: id })
      return { ...agent, terminal: agent.terminal }
    },
    list: (): AgentInfo[] =>
      (Object.values(agents) as AgentDefinition[])
        .filter((agent) => options.demo || !agent.id.startsWith("demo"))
        .map((agent) => {
          const reason = unavailableReason(agent)
          const comes_back = agent.native_session_resume ? "native" : agent.history_context_injection ? "injected" : "none"
          return {
            id: agent.id,
            name: agent.name,
            description: agent.description,
            available: reason === null,
            unavailable_reason: reason,
            comes_back,
            terminal: terminalProblem(agent) === null,
          }
        }),
  }
}
export type AgentRegistry = ReturnType<typeof createAgentRegistry>

function isExecutable(program: string, path: string): boolean {
  const candidates = isAbsolute(program)
    ? [program]
    : path
        .split(delimiter)
        .filter(Boolean)
        .map((folder) => join(folder, program))
  return candidates.some((file) => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
