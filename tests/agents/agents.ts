import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { AgentId } from "../../lib/contracts/task"

/** A folder that stands for a person's home: no agent under test sees or changes the real one. */
export type Home = { folder: string; model_url: string }

export type RealAgent = {
  id: AgentId
  /** The agent's own settings for a model on loopback; nothing of it is Rewake's. */
  configure(home: Home): Record<string, string>
  /** Removes what the agent itself keeps of a conversation. */
  loseSession(home: string, agentSessionId: string): void
}

/** An agent that is also tested as a program in a terminal. */
export type TerminalAgent = RealAgent & {
  /** Its field for words, as it is on the screen when it can be typed into. */
  waits: RegExp
  /** What a user answers when it first asks about a folder. */
  trust(home: string, workspace: string): void
  /** Whether these words are in the files it keeps its conversations in. */
  remembers(home: string, words: string): boolean
}

/** OpenCode asks npm for this at every start unless the folder of its settings says that it was installed. */
const OPENCODE_PLUGIN = { dependencies: { "@opencode-ai/plugin": "*" } }

export const OPENCODE: TerminalAgent = {
  id: "opencode",
  configure({ folder, model_url }) {
    // What the model takes is not asked of it: a picture it is not said to take would be left out.
    const sees = { attachment: true, modalities: { input: ["text", "image"], output: ["text"] } }
    const models = { scripted: { name: "Scripted", tool_call: true, ...sees, limit: { context: 200_000, output: 8000 } } }
    const settings = join(folder, ".config", "opencode")
    write(
      join(settings, "opencode.json"),
      JSON.stringify({
        autoupdate: false,
        share: "disabled",
        model: "test/scripted",
        small_model: "test/scripted",
        enabled_providers: ["test"],
        permission: { bash: "ask", edit: "ask" },
        provider: {
          test: { npm: "@ai-sdk/openai-compatible", name: "Test", options: { baseURL: `${model_url}/v1`, apiKey: "test" }, models },
        },
      }),
    )
    mkdirSync(join(settings, "node_modules"))
    write(join(settings, "package.json"), JSON.stringify(OPENCODE_PLUGIN))
    write(join(settings, "package-lock.json"), JSON.stringify({ packages: { "": OPENCODE_PLUGIN } }))
    // Reading its catalogue of every model there is takes a third of the CPU time of a start; the model under test is in the settings.
    const catalogue = join(settings, "models.json")
    write(catalogue, "{}")
    return {
      OPENCODE_MODELS_PATH: catalogue,
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_SHARE: "1",
    }
  },
  loseSession: (home) => removeFiles(opencodeData(home), "opencode.db"),
  waits: /Scripted Test/,
  trust: () => undefined,
  remembers: (home, words) => filesHold(opencodeData(home), "opencode.db", words),
}

export const CODEX: RealAgent = {
  id: "codex",
  configure({ folder, model_url }) {
    write(
      join(folder, ".codex", "config.toml"),
      `model = "gpt-5.5"
model_provider = "test"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
[otel]
exporter = "none"
[model_providers.test]
name = "Test"
base_url = "${model_url}/v1"
wire_api = "responses"
env_key = "TEST_MODEL_KEY"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
`,
    )
    return { CODEX_HOME: join(folder, ".codex"), TEST_MODEL_KEY: "test", INITIAL_AGENT_MODE: "workspace-write" }
  },
  loseSession: (home, id) => removeFiles(join(home, ".codex", "sessions"), id),
}

export const CLAUDE_CODE: TerminalAgent = {
  id: "claude-code",
  configure({ folder, model_url }) {
    // In a terminal it would first ask for a theme, and whether the key is meant.
    const answered = { hasCompletedOnboarding: true, theme: "dark", customApiKeyResponses: { approved: ["test"], rejected: [] } }
    write(join(folder, ".claude", ".claude.json"), JSON.stringify(answered))
    return {
      ANTHROPIC_BASE_URL: model_url,
      ANTHROPIC_API_KEY: "test",
      CLAUDE_CONFIG_DIR: join(folder, ".claude"),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
    }
  },
  loseSession: (home, id) => removeFiles(claudeConversations(home), id),
  waits: /^─+\n❯.*\n─+$/m,
  trust(home, workspace) {
    const file = join(home, ".claude", ".claude.json")
    const settings = JSON.parse(readFileSync(file, "utf8")) as { projects?: Record<string, object> }
    const projects = { ...settings.projects, [workspace]: { ...settings.projects?.[workspace], hasTrustDialogAccepted: true } }
    write(file, JSON.stringify({ ...settings, projects }))
  },
  remembers: (home, words) => filesHold(claudeConversations(home), ".jsonl", words),
}

export const REAL_AGENTS: readonly RealAgent[] = [OPENCODE, CODEX, CLAUDE_CODE]

/** Everything a real person's setup would bring along is turned away. */
export const homeEnvironment = (folder: string): Record<string, string> => ({
  HOME: folder,
  XDG_CONFIG_HOME: join(folder, ".config"),
  XDG_DATA_HOME: join(folder, ".local", "share"),
  XDG_STATE_HOME: join(folder, ".local", "state"),
  XDG_CACHE_HOME: join(folder, ".cache"),
  DO_NOT_TRACK: "1",
  NO_UPDATE_NOTIFIER: "1",
  // Claude's adapter and Claude itself disagree about values other than 1, and it does not start for root then.
  IS_SANDBOX: "",
})

const opencodeData = (home: string) => join(home, ".local", "share", "opencode")
const claudeConversations = (home: string) => join(home, ".claude", "projects")

function write(file: string, content: string) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

function removeFiles(folder: string, naming: string) {
  const found = filesNamed(folder, naming)
  if (found.length === 0) throw new Error(`nothing in ${folder} is named ${naming}`)
  for (const file of found) rmSync(file, { recursive: true, force: true })
}

const filesHold = (folder: string, naming: string, words: string): boolean =>
  filesNamed(folder, naming).some((file) => readFileSync(file).includes(words))

const filesNamed = (folder: string, naming: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => basename(name).includes(naming))
    .map((name) => join(folder, name))
