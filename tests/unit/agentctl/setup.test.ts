import { describe, expect, test } from "vitest"
import { type AgentSetup, NO_SETUP } from "../../../lib/contracts/agent-setup"
import { Settings } from "../../../server/agentctl/acp/settings"
import { MODE_OPTION, readOptions, readSignIn, readUsage, setupAfter } from "../../../server/agentctl/acp/setup"

const model = {
  id: "model",
  name: "Model",
  category: "model",
  type: "select",
  currentValue: "small",
  options: [{ group: "fast", name: "Fast", options: [{ value: "small", name: "Small" }] }, { value: "large" }],
}
const modes = {
  currentModeId: "ask",
  availableModes: [{ id: "ask", name: "Ask" }, { id: "plan", name: "Plan", description: "No edits" }, {}],
}

describe("what an agent offers to set", () => {
  test("options are read with their groups, and what is not understood is left out", () => {
    expect(readOptions({ configOptions: [model, { id: "x", type: "slider" }, null] })).toEqual([
      {
        id: "model",
        name: "Model",
        description: null,
        category: "model",
        type: "select",
        current: "small",
        choices: [
          { value: "small", name: "Small", description: null, group: "Fast" },
          { value: "large", name: "large", description: null, group: null },
        ],
      },
    ])
    for (const nothing of [null, {}, { configOptions: "no" }, { modes: {} }]) expect(readOptions(nothing)).toEqual([])
  })

  test("modes of the older kind are one option more, unless the options have them already", () => {
    expect(readOptions({ modes, configOptions: [model] }).map(({ id }) => id)).toEqual([MODE_OPTION, "model"])
    const own = { ...model, id: "mode", category: "mode" }
    expect(readOptions({ modes, configOptions: [own] }).map(({ id }) => id)).toEqual(["mode"])
  })

  test("an update changes what it is about and nothing else", () => {
    const setup: AgentSetup = { ...NO_SETUP, options: readOptions({ modes, configOptions: [model] }) }
    const moded = setupAfter(setup, { sessionUpdate: "current_mode_update", currentModeId: "plan" })
    expect(moded?.options.map(({ current }) => current)).toEqual(["plan", "small"])
    const optioned = setupAfter(setup, { sessionUpdate: "config_option_update", configOptions: [{ ...model, currentValue: "large" }] })
    expect(optioned?.options.map(({ current }) => current)).toEqual(["ask", "large"])
    const commanded = setupAfter(setup, {
      sessionUpdate: "available_commands_update",
      availableCommands: [{ name: "review", description: "Look at it", input: { hint: "BRANCH" } }, { description: "nameless" }],
    })
    expect(commanded?.commands).toEqual([{ name: "review", description: "Look at it", hint: "BRANCH" }])
    for (const other of [null, { sessionUpdate: "plan" }, { sessionUpdate: "current_mode_update" }])
      expect(setupAfter(setup, other)).toBeNull()
  })

  test("usage and ways of signing in are read, or kept for what they are", () => {
    expect(readUsage({ sessionUpdate: "usage_update", used: 5, size: 10 })).toEqual({ used: 5, size: 10, cost: null })
    expect(readUsage({ sessionUpdate: "usage_update", used: "5", size: 10 })).toBeNull()
    expect(
      readSignIn([{ id: "a", name: "A" }, { id: "t", name: "T", type: "terminal", args: ["x", 1], env: { K: "v", N: 1 } }, {}]),
    ).toEqual([
      { id: "a", name: "A", description: null, terminal: null },
      { id: "t", name: "T", description: null, terminal: { args: ["x"], env: { K: "v" } } },
    ])
  })

  test.each([
    ["a variable's name that is shell code", { env: { "A=1;touch /tmp/x;B": "v" } }],
    ["a variable's name that begins with a digit", { env: { "1A": "v" } }],
    ["a value with a control key", { env: { A: "v\x15id\r" } }],
    ["an argument with a line end", { args: ["login\rid"] }],
  ])("a way of signing in with %s is not offered", (_what, terminal) => {
    expect(readSignIn([{ id: "t", name: "T", type: "terminal", args: [], ...terminal }])).toEqual([])
  })
})

describe("setting an agent", () => {
  const live = () => {
    const calls: string[] = []
    const told: AgentSetup[] = []
    const settings = new Settings(
      {
        setMode: async (id) => void calls.push(`mode ${id}`),
        setOption: async (id, value) => {
          calls.push(`${id} ${value}`)
          if (value === "large") return { configOptions: [{ ...model, currentValue: "large" }] }
          throw new Error("not today")
        },
        explain: (error) => (error as Error).message,
      },
      (setup) => told.push(setup),
    )
    settings.begin({
      options: readOptions({ modes, configOptions: [model, { id: "loud", name: "Loud", type: "boolean", currentValue: false }] }),
    })
    return { settings, calls, told }
  }

  test("the model goes first, what is so already is left alone, and each refusal is told with its reason", async () => {
    const { settings, calls } = live()
    const refused = await settings.apply({ [MODE_OPTION]: "plan", loud: false, model: "large", gone: "x" })
    expect(calls).toEqual(["model large", "mode plan"])
    // The model it has now does not offer to be loud.
    expect(refused).toEqual([
      { id: "loud", name: "loud", value: false, reason: "The agent does not offer this option." },
      { id: "gone", name: "gone", value: "x", reason: "The agent does not offer this option." },
    ])
    expect(await settings.apply({ [MODE_OPTION]: "reckless" })).toMatchObject([{ reason: "The agent does not offer this choice." }])
  })

  test("nothing is told before it is announced, and nothing twice", async () => {
    const { settings, told } = live()
    await settings.apply({ [MODE_OPTION]: "plan" })
    expect(told).toEqual([])
    settings.announce()
    expect(told).toHaveLength(1)
    expect(settings.update({ sessionUpdate: "current_mode_update", currentModeId: "plan" })).toBe(true)
    expect(told).toHaveLength(1)
    expect(settings.update({ sessionUpdate: "current_mode_update", currentModeId: "ask" })).toBe(true)
    expect(told.at(-1)?.options[0]?.current).toBe("ask")
    expect(settings.update({ sessionUpdate: "tool_call" })).toBe(false)
  })

  test("an agent's own no is its reason", async () => {
    const { settings } = live()
    expect(await settings.apply({ loud: true })).toEqual([{ id: "loud", name: "Loud", value: true, reason: "not today" }])
  })
})
