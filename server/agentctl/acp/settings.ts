import {
  type AgentOption,
  type AgentSetup,
  NO_SETUP,
  type OptionValues,
  type RefusedOption,
  whyNot,
} from "../../../lib/contracts/agent-setup"
import { MODE_OPTION, readConfigOptions, setupAfter, withOptions } from "./setup"

/** How an agent is told to set something; both reject with the agent's error. */
export interface SettingCalls {
  setMode(modeId: string): Promise<unknown>
  /** Answers with all options as they are then. */
  setOption(id: string, value: string | boolean): Promise<unknown>
  /** The agent's error in words for a person. */
  explain(error: unknown): string
}

/** What can be set about one live agent, as it last said. */
export class Settings {
  private known: AgentSetup = NO_SETUP
  private told: string | null = null

  constructor(
    private readonly calls: SettingCalls,
    private readonly tell: (setup: AgentSetup) => void,
  ) {}

  begin(setup: Partial<AgentSetup>): void {
    // Commands may have come before the answer they belong to.
    this.known = { ...this.known, ...setup }
  }

  /** True when the update was about this. */
  update(update: unknown): boolean {
    const after = setupAfter(this.known, update)
    if (after) this.replace(after)
    return after !== null
  }

  /** Before the agent is announced nobody could place what is told of it. */
  announce(): void {
    this.told = JSON.stringify(NO_SETUP)
    this.replace(this.known)
  }

  /** What cannot be set is told; the rest is set all the same. */
  async apply(values: OptionValues): Promise<RefusedOption[]> {
    const refused: RefusedOption[] = []
    for (const id of this.inOrder(Object.keys(values))) {
      const value = values[id] as string | boolean
      const option = this.known.options.find((candidate) => candidate.id === id)
      if (option?.current === value) continue
      const name = option?.name ?? id
      const reason = whyNot(this.known, id, value) ?? (await this.set(id, value))
      if (reason !== null) refused.push({ id, name, value, reason })
    }
    return refused
  }

  private async set(id: string, value: string | boolean): Promise<string | null> {
    try {
      const answer = id === MODE_OPTION ? await this.calls.setMode(String(value)) : await this.calls.setOption(id, value)
      const options = readConfigOptions((answer as { configOptions?: unknown } | null)?.configOptions)
      this.replace(options ? withOptions(this.known, options) : withCurrent(this.known, id, value))
      return null
    } catch (error) {
      return this.calls.explain(error)
    }
  }

  private replace(setup: AgentSetup): void {
    this.known = setup
    const text = JSON.stringify(setup)
    if (this.told === null || this.told === text) return
    this.told = text
    this.tell(setup)
  }

  /** A model decides what else can be chosen. */
  private inOrder(ids: string[]): string[] {
    const isModel = (id: string) => this.known.options.some((option) => option.id === id && option.category === "model")
    return [...ids.filter(isModel), ...ids.filter((id) => !isModel(id))]
  }
}

const withCurrent = (setup: AgentSetup, id: string, value: string | boolean): AgentSetup => ({
  ...setup,
  options: setup.options.map((option) => (option.id === id ? ({ ...option, current: value } as AgentOption) : option)),
})
