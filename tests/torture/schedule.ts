import type { KillPoint } from "../../lib/host/kill-point"

/**
 * What is done to Rewake, step by step. A schedule is a plan and nothing else: it names sessions, questions and queued messages
 * by number, so that any of its steps can be left out and the rest still means something.
 */
export const AGENTS = ["demo", "demo-inject", "demo-forgetful"] as const
export type AgentName = (typeof AGENTS)[number]
type SettingTraits = {
  database: "sqlite" | "postgresql"
  /** Of all schedules, so many in proportion are drawn for it. */
  weight: number
  servers?: 2
  /** Tasks expire after two seconds, and the reaper looks every second. */
  expiring?: true
}
export const SETTINGS = {
  sqlite: { database: "sqlite", weight: 6 },
  "expiring sqlite": { database: "sqlite", weight: 2, expiring: true },
  postgresql: { database: "postgresql", weight: 2 },
  "expiring postgresql": { database: "postgresql", weight: 2, expiring: true },
  "two servers": { database: "postgresql", weight: 1, servers: 2 },
  /** Two servers over one database, each with a data folder and a daemon of its own. */
  "separate places": { database: "postgresql", weight: 1, servers: 2 },
} as const satisfies Record<string, SettingTraits>
export type Setting = keyof typeof SETTINGS
export const traitsOf = (setting: Setting): SettingTraits => SETTINGS[setting]
export const ALL_SETTINGS = Object.keys(SETTINGS) as Setting[]
export type Who = "server" | "daemon" | "agent"

/** When a fault strikes: after so many pieces of text, or so many milliseconds. */
export type Moment = { texts: number } | { ms: number }

/** `via`: the server a person's browser talks to, where there are two. */
type At = { session: number; via: number }
export type PersonStep =
  | { do: "create"; via: number; agent: AgentName; text: string }
  | ({ do: "add session"; agent: AgentName } & At)
  | ({ do: "send"; text: string; client_id: string | null; callers: 1 | 2 } & At)
  | ({ do: "answer"; option: number; how: "once" | "twice" | "conflicting" | "racing" } & At)
  | ({ do: "cancel" } & At)
  | ({ do: "stop" } & At)
  | ({ do: "resume"; callers: 1 | 2; fresh: boolean } & At)
  | ({ do: "go back" } & At)
  | ({ do: "edit"; nth: number; text: string } & At)
  | ({ do: "withdraw"; nth: number } & At)
  | ({ do: "open tab" } & At)
  | ({ do: "close tab" } & At)
  | TerminalStep

/** `terminal`: by number among those the session has open. */
type AtTerminal = At & { terminal: number }
/** `job`: something that goes on in the background. `exit`: the shell ends. */
export type Typed = "word" | "job" | "exit"
/** A new page shows the screen or everything from the beginning; one that is open goes on from where it was. */
export type LookFrom = "screen" | "beginning" | "where it was"
export type TerminalStep =
  | ({ do: "open terminal" } & At)
  | ({ do: "look"; from: LookFrom } & AtTerminal)
  | ({ do: "type"; line: Typed; word: string } & AtTerminal)
  | ({ do: "resize"; cols: number; rows: number } & AtTerminal)
  | ({ do: "close terminal" } & AtTerminal)

export type Fault =
  | { do: "kill"; who: readonly Who[]; session: number; via: number; moment: Moment }
  | { do: "arm"; point: KillPoint; occurrence: number; also: boolean }
  /** A start that is killed after so many milliseconds. */
  | { do: "kill while starting"; via: number; ms: number }
  | { do: "freeze daemon"; ms: number }
  /** PostgreSQL cannot be reached for so long. */
  | { do: "close database"; ms: number }
  /** The text of something that was said cannot be read any more. */
  | { do: "damage row"; session: number; nth: number }

/** A person looking at the page until something shows; never for long, since it may never come. */
export type WaitFor = "text" | "question" | "end" | "idle" | "kill point" | "archive"
export type Wait = { do: "await"; session: number; for: WaitFor }

export type Step = PersonStep | Fault | Wait | { do: "together"; steps: readonly PersonStep[] }
export type Schedule = { seed: number; length: number; setting: Setting; steps: readonly Step[] }

const FAULTS: readonly Step["do"][] = ["kill", "arm", "kill while starting", "freeze daemon", "close database", "damage row"]
export const isFault = (step: Step): step is Fault => FAULTS.includes(step.do)

/** One line of a story. */
export function describeStep(step: Step): string {
  const s = "session" in step ? `session ${step.session}` : ""
  switch (step.do) {
    case "create":
      return `a task for ${step.agent}: "${step.text}"`
    case "add session":
      return `a further session beside ${s}, for ${step.agent}`
    case "send":
      return `${s}: send "${step.text}"${step.client_id ? ` as ${step.client_id}` : ""}${step.callers === 2 ? ", two callers at once" : ""}`
    case "answer":
      return `${s}: answer the open question with option ${step.option}, ${step.how}`
    case "cancel":
    case "stop":
      return `${s}: ${step.do}`
    case "resume":
      return `${s}: resume${step.fresh ? " fresh" : ""}${step.callers === 2 ? ", two callers at once" : ""}`
    case "go back":
      return `${s}: go back to the agent's earlier conversation`
    case "edit":
      return `${s}: edit queued message ${step.nth} to "${step.text}"`
    case "withdraw":
      return `${s}: withdraw queued message ${step.nth}`
    case "open tab":
    case "close tab":
    case "open terminal":
      return `${s}: ${step.do}`
    case "look":
      return `${s}: look at terminal ${step.terminal} from ${step.from === "screen" ? "its screen" : step.from === "beginning" ? "its beginning" : "where a page was"}`
    case "type":
      return `${s}: type ${{ word: `"${step.word}"`, job: `"${step.word}" and a job that stays`, exit: "exit" }[step.line]} into terminal ${step.terminal}`
    case "resize":
      return `${s}: make terminal ${step.terminal} ${step.cols}×${step.rows}`
    case "close terminal":
      return `${s}: close terminal ${step.terminal}`
    case "kill":
      return `kill -9 ${step.who.join(" and ")} (${s}) ${"texts" in step.moment ? `after ${step.moment.texts} pieces of text` : `after ${step.moment.ms} ms`}`
    case "arm":
      return `die at ${step.point}, time ${step.occurrence}${step.also ? ", server and daemon together" : ""}`
    case "kill while starting":
      return `kill -9 the server ${step.ms} ms after its start`
    case "freeze daemon":
      return `SIGSTOP the daemon for ${step.ms} ms`
    case "close database":
      return `no way to PostgreSQL for ${step.ms} ms`
    case "damage row":
      return `${s}: damage row ${step.nth} of what was said`
    case "await":
      return `${s}: wait for ${step.for}`
    case "together":
      return `at once: ${step.steps.map(describeStep).join(" | ")}`
  }
}
