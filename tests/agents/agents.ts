import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { AgentId } from "../../lib/contracts/task"

/** A folder that stands for a person's home: no agent under test sees or changes the real one. */
export type Home = { folder: string; model_url: string }

export type RealAgent = {
  id: AgentId
  /** The agent's own settings for a model on loopback; nothing of it is Rewake's. */
  configure(home: Home): Record<string, string>
  /** On its screen when it waits for words in a terminal; null where that does not show before the first key. */
  waits: RegExp | null
  /** What a person answers when it first asks about a folder in a terminal. */
  trust(home: string, workspace: string): void
  /** Removes what the agent itself keeps of a conversation. */
  loseSession(home: string, agentSessionId: string): void
}

export const REAL_AGENTS: readonly RealAgent[] = [
  {
    id: "opencode",
    configure({ folder, model_url }) {
      // What the model takes is not asked of it: a picture it is not said to take would be left out.
      const sees = { attachment: true, modalities: { input: ["text", "image"], output: ["text"] } }
      const models = { scripted: { name: "Scripted", tool_call: true, ...sees, limit: { context: 200_000, output: 8000 } } }
      write(
        join(folder, ".config", "opencode", "opencode.json"),
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
      return {
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
        OPENCODE_DISABLE_SHARE: "1",
      }
    },
    waits: /commands/,
    trust: () => undefined,
    loseSession: (home) => removeFiles(join(home, ".local", "share", "opencode"), "opencode.db"),
  },
  {
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
    waits: null,
    trust(home, workspace) {
      const file = join(home, ".codex", "config.toml")
      const table = `[projects."${workspace}"]`
      if (!readFileSync(file, "utf8").includes(table)) appendFileSync(file, `\n${table}\ntrust_level = "trusted"\n`)
    },
    loseSession: (home, id) => removeFiles(join(home, ".codex", "sessions"), id),
  },
  {
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
    waits: /❯/,
    trust(home, workspace) {
      const file = join(home, ".claude", ".claude.json")
      const settings = JSON.parse(readFileSync(file, "utf8")) as { projects?: Record<string, object> }
      const projects = { ...settings.projects, [workspace]: { ...settings.projects?.[workspace], hasTrustDialogAccepted: true } }
      write(file, JSON.stringify({ ...settings, projects }))
    },
    loseSession: (home, id) => removeFiles(join(home, ".claude", "projects"), id),
  },
]

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

function write(file: string, content: string) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

function removeFiles(folder: string, naming: string) {
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => basename(name).includes(naming))
  if (found.length === 0) throw new Error(`nothing in ${folder} is named ${naming}`)
  for (const name of found) rmSync(join(folder, name), { recursive: true, force: true })
}
