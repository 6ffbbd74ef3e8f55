import type { Schedule, Step } from "./schedule"

type Known = { seed: number; found: string; setting: Schedule["setting"]; steps: readonly Step[] }

/**
 * What a seed once found, by the fewest steps that find it: `npm test` begins with these. The steps are written out, since a
 * seed gives another schedule as soon as there is one more action, fault or kill point to choose from.
 */
const KNOWN: readonly Known[] = [
  {
    seed: 43,
    found: "a message to a session that another server had made, and nobody had touched since, was never delivered",
    setting: "two servers",
    steps: [
      { do: "create", via: 0, agent: "demo", text: "hello w43n1" },
      { do: "add session", session: 0, via: 1, agent: "demo" },
      { do: "send", session: 1, via: 0, text: "count 5 5 w43n2", client_id: null, callers: 1 },
    ],
  },
  {
    seed: 36,
    found: "a task deleted at a server that does not own its session kept its agent running",
    setting: "two servers",
    steps: [{ do: "create", via: 1, agent: "demo-forgetful", text: "hello w36n1" }],
  },
  {
    seed: 131,
    found: "after a fresh start whose daemon died, messages were accepted and never delivered",
    setting: "sqlite",
    steps: [
      { do: "create", via: 0, agent: "demo", text: "hello w131n1" },
      { do: "await", session: 0, for: "end" },
      { do: "arm", point: "agent.spawned", occurrence: 1, also: false },
      { do: "resume", session: 0, via: 0, callers: 1, fresh: true },
      { do: "await", session: 0, for: "kill point" },
      { do: "send", session: 0, via: 0, text: "hello w131n2", client_id: "c1", callers: 1 },
    ],
  },
  {
    seed: 301,
    found: "an agent's end was told twice when its daemon was killed between its two files",
    setting: "sqlite",
    steps: [
      { do: "arm", point: "exit.spooled", occurrence: 1, also: false },
      { do: "create", via: 0, agent: "demo", text: "crash" },
      { do: "await", session: 0, for: "kill point" },
    ],
  },
  {
    seed: 12005,
    found: "a page with a terminal that came before the sweep of a new server kept the session's queue from being worked off",
    setting: "sqlite",
    steps: [
      { do: "create", via: 0, agent: "demo", text: "count 60 40 w12005n1" },
      { do: "await", session: 0, for: "text" },
      { do: "open terminal", session: 0, via: 0 },
      { do: "look", session: 0, via: 0, terminal: 0, from: "screen" },
      { do: "send", session: 0, via: 0, text: "hello w12005n2", client_id: null, callers: 1 },
      { do: "kill", who: ["server", "daemon"], session: 0, via: 0, moment: { ms: 0 } },
    ],
  },
  {
    seed: 20012,
    found: "a tool call that was left open by a dead daemon was closed once more with the next run",
    setting: "sqlite",
    steps: [
      { do: "create", via: 0, agent: "demo", text: "run echo w20012n1 >> heard.txt" },
      { do: "await", session: 0, for: "question" },
      { do: "kill", who: ["daemon"], session: 0, via: 0, moment: { ms: 0 } },
      { do: "await", session: 0, for: "end" },
      { do: "send", session: 0, via: 0, text: "hello w20012n2", client_id: null, callers: 1 },
      { do: "await", session: 0, for: "end" },
    ],
  },
]

export const KNOWN_SCHEDULES: readonly Schedule[] = KNOWN.map(({ seed, setting, steps }) => ({
  seed,
  setting,
  steps,
  length: steps.length,
}))
