import { accessSync, constants } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"
import { AppError } from "../../lib/contracts/errors"
import type { AgentId, AgentInfo } from "../../lib/contracts/task"
import type { AgentDefinition } from "./agent"

type Traits = Omit<AgentDefinition, "id" | "command" | "env" | "session_files">
const none = () => []
const onPath = (program: string, ...args: string[]) => ({ command: { program, args }, env: {}, session_files: none })

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
      ...native,
    },
    codex: { id: "codex", name: "Codex", description: "OpenAI's coding agent.", ...onPath("codex-acp"), ...native },
    opencode: { id: "opencode", name: "OpenCode", description: "The open source coding agent.", ...onPath("opencode", "acp"), ...native },
    gemini: { id: "gemini", name: "Gemini", description: "Google's coding agent.", ...onPath("gemini", "--acp"), ...native },
    copilot: { id: "copilot", name: "Copilot", description: "GitHub's coding agent.", ...onPath("copilot", "--acp"), ...native },
    auggie: { id: "auggie", name: "Auggie", description: "Augment's coding agent.", ...onPath("auggie", "--acp"), ...injected },
    amp: {
      id: "amp",
      name: "Amp",
      description: "Sourcegraph's coding agent, in a terminal.",
      command: null,
      env: {},
      session_files: none,
      native_session_resume: false,
      history_context_injection: false,
    },
  } satisfies Record<AgentId, AgentDefinition>

  const unavailableReason = (agent: AgentDefinition): string | null => {
    if (!agent.command) return agent.id === "amp" ? "It runs in a terminal only." : "The demo agents are switched off."
    return isExecutable(agent.command.program, options.path) ? null : `The command ${agent.command.program} is not on this machine.`
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
