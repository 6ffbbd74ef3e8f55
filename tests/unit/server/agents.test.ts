import { describe, expect, test } from "vitest"
import { CustomAgent } from "../../../lib/contracts/agents"
import { defineAgent, sessionFilesOf } from "../../../server/agents/agent"
import { demoAgents, vendorAgents } from "../../../server/agents/built-in"
import { claudeCode } from "../../../server/agents/built-in/claude-code"
import { codex } from "../../../server/agents/built-in/codex"
import { definitionOf } from "../../../server/agents/custom-agents"
import { FetchedPackages, packagesToFetch } from "../../../server/agents/npm-progress"
import { comesBack } from "../../../server/agents/registry"
import { troubleOf } from "../../../server/agents/trouble"

const place = { data_dir: "/data", home: "/home/ann", env: {}, workspace: "/data/workspaces/7/sess_a.b" }

describe("what an agent's words mean", () => {
  test.each([
    ["Authentication required (-32000)", "sign_in_needed"],
    ['Internal error (-32603) {"details":"401 Unauthorized: Invalid API key"}', "sign_in_needed"],
    ["API Error: 429 rate_limit_error", "rate_limited"],
    ["Overloaded", "rate_limited"],
    ["prompt is too long: 210000 tokens > 200000 maximum", "context_too_long"],
    ["This model's maximum context length is 128000 tokens", "context_too_long"],
    ["Resource not found (-32002)", "unknown_session"],
    ["The agent ended with code 1", null],
    ["I read 4290 files", null],
  ])("%s → %s", (message, means) => {
    expect(troubleOf(defineAgent({ ...bare, id: "x" }), message)).toBe(means)
  })

  test("an agent's own words go before the common ones", () => {
    expect(troubleOf(codex, 'Internal error (-32603) {"details":"no rollout found for thread id 429"}')).toBe("unknown_session")
  })
})

const bare = { name: "X", description: "", native_session_resume: false, history_context_injection: false }

describe("how an agent comes back", () => {
  test("what the live agent answered goes before what is declared", () => {
    const declared = defineAgent({ ...bare, id: "x", native_session_resume: true, history_context_injection: true })
    expect(comesBack(declared, null)).toBe("native")
    expect(comesBack(declared, false)).toBe("injected")
    expect(comesBack(defineAgent({ ...bare, id: "x" }), true)).toBe("native")
    expect(comesBack(defineAgent({ ...bare, id: "x" }), null)).toBe("none")
  })
})

describe("an agent's names for conversations", () => {
  const demo = demoAgents({ programs: "/p", node: "/n" })
  test.each([...vendorAgents, ...demo, defineAgent({ ...bare, id: "x" })].map((agent) => [agent.id, agent] as const))(
    "%s: an option, a path, several words or nothing is none",
    (_, { conversation }) => {
      for (const name of [
        "-x",
        "--dangerously-bypass-approvals-and-sandbox",
        "../x",
        "a/b",
        ".",
        "",
        "a b",
        "a\nb",
        "a\0b",
        "$(id)",
        "x".repeat(300),
      ])
        expect(conversation.test(name), name).toBe(false)
    },
  )
  test.each([
    ["claude-code", "0b5a7c3e-1d2f-4a6b-8c9d-0e1f2a3b4c5d"],
    ["codex", "0199a213-81c0-7800-8aa1-bbab2a035a53"],
    ["opencode", "ses_5fa0b3c2dffeAbCdEfGhIjKlMn"],
    ["amp", "T-0b5a7c3e-1d2f-4a6b-8c9d-0e1f2a3b4c5d"],
  ])("%s: its own form is taken", (id, name) => {
    expect(vendorAgents.find((agent) => agent.id === id)?.conversation.test(name)).toBe(true)
  })
})

describe("an agent's own session files", () => {
  test("Claude Code keeps one file per conversation in a folder named after the workspace", () => {
    const id = "0b5a7c3e-1d2f-4a6b-8c9d-0e1f2a3b4c5d"
    expect(claudeCode.session_files(id, place)).toEqual([
      { path: `/home/ann/.claude/projects/-data-workspaces-7-sess-a-b/${id}.jsonl`, as: `${id}.jsonl` },
    ])
    expect(claudeCode.session_files(id, { ...place, env: { CLAUDE_CONFIG_DIR: "/c" } })[0]?.path).toMatch(/^\/c\/projects\//)
  })
  test("Codex's are found by their ending, and nothing of another conversation is", () => {
    const id = "0199a213-81c0-7800-8aa1-bbab2a035a53"
    expect(codex.session_files(id, place)).toEqual([{ path: "/home/ann/.codex/sessions", as: "sessions", ending: `-${id}.jsonl` }])
  })
  test.each(vendorAgents.map((agent) => [agent.id, agent] as const))("%s: an id that is a path names no file", (_, agent) => {
    for (const id of ["../../etc/passwd", "a/b", "", "..", "x\0y"]) expect(sessionFilesOf(agent, id, place)).toEqual([])
  })
})

describe("an agent of one's own", () => {
  test("needs a command of either kind", () => {
    expect(CustomAgent.safeParse({ id: "mine", name: "Mine" }).success).toBe(false)
    expect(CustomAgent.safeParse({ id: "mine", name: "Mine", terminal: { command: "mine" } }).success).toBe(true)
  })
  test.each(["Mine", "-mine", "a/b", "a b", "", "x".repeat(64)])("cannot be called %j", (id) => {
    expect(CustomAgent.safeParse({ id, name: "Mine", acp: { command: "mine" } }).success).toBe(false)
  })
  test("is declared with nothing it has not been asked for yet", () => {
    const agent = definitionOf(CustomAgent.parse({ id: "mine", name: "Mine", acp: { command: "mine", args: ["--acp"] } }))
    expect(agent).toMatchObject({ acp: { program: "mine", args: ["--acp"] }, terminal: null, native_session_resume: false })
  })
})

describe("how far an installation is", () => {
  test("packages for other machines are not waited for", () => {
    const lock = {
      packages: {
        "": {},
        "node_modules/a": { resolved: "https://example.org/a.tgz" },
        "node_modules/a-linux": { resolved: "https://example.org/l.tgz", os: ["linux"], cpu: ["x64"] },
        "node_modules/a-mac": { resolved: "https://example.org/m.tgz", os: ["darwin"] },
        "node_modules/a-arm": { resolved: "https://example.org/r.tgz", cpu: ["arm64"] },
        "node_modules/a-not-win": { resolved: "https://example.org/n.tgz", os: ["!win32"] },
        "node_modules/a/node_modules/b": { inBundle: true, resolved: "https://example.org/b.tgz" },
      },
    }
    expect(packagesToFetch(lock, { platform: "linux", arch: "x64" })).toBe(3)
  })
  test("each tarball counts once, also when a line arrives in two pieces", () => {
    const fetched = new FetchedPackages()
    fetched.take("npm http fetch GET 200 https://example.org/a/-/a-1.0.0.tgz 12ms (cache miss)\nnpm http fe")
    fetched.take("tch GET 200 https://example.org/b/-/b-1.0.0.tgz 12ms\nnpm http fetch GET 200 https://example.org/a/-/a-1.0.0.tgz 3ms\n")
    fetched.take("npm http cache c@https://example.org/c/-/c-1.0.0.tgz 0ms (cache hit)\nnpm http fetch GET 200 https://example.org/a 1ms\n")
    expect(fetched.count).toBe(3)
  })
})
