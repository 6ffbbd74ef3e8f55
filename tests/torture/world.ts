import type { Outcome } from "../../lib/contracts/waits"
import type { KillPoint } from "../../lib/host/kill-point"
import type { follow } from "../support/server"
import type { Place } from "./place"
import type { Typed } from "./schedule"
import type { TerminalViewer } from "./terminal-viewer"

export type Tab = ReturnType<typeof follow> & { open: boolean }
/** `looker`: opened when the faults were over, and shows all there is. */
export type WorldTerminal = { id: string; closed: boolean; viewers: TerminalViewer[]; looker: TerminalViewer | null }
/** `damaged`: by seq, the rows of its log that cannot be read any more. */
export type WorldSession = {
  id: string
  task_id: number
  agent: string
  tabs: Tab[]
  terminals: WorldTerminal[]
  damaged: Set<number>
}

/** What the person asked for, and whether the answer said it was done; null: no answer came. */
export type Sent = {
  session_id: string
  task_id: number
  text: string
  client_id: string | null
  status: number | null
  prompt_id: string | null
}
export type Answered = { session_id: string; token_id: string; outcome: Outcome; status: number | null }
export type Changed = { session_id: string; prompt_id: string; text: string | null; status: number | null }
/** Typed for one process, and whether the answer said that it was taken. */
export type TypedLine = { worker_id: string; line: Typed; word: string; generation: number; epoch: number; taken: boolean | null }
export type Death = { who: "server" | "daemon" | "agent"; how: string }

/** One schedule's life: its sessions, all a person did and was told, and what died. The checks compare it with what is there. */
export class World {
  readonly sessions: WorldSession[] = []
  readonly sent: Sent[] = []
  readonly answered: Answered[] = []
  /** Edits, and withdrawals where the text is null. */
  readonly changed: Changed[] = []
  readonly typed: TypedLine[] = []
  readonly deaths: Death[] = []
  /** Kill points that were reached and killed. */
  readonly points: KillPoint[] = []
  /** A person ended or replaced an agent: its exit needs no other reason. */
  endedByPerson = false
  readonly story: string[] = []
  readonly surprises: string[] = []
  private readonly began = performance.now()

  constructor(readonly place: Place) {}

  say(line: string): void {
    this.story.push(
      `${Math.round(performance.now() - this.began)
        .toString()
        .padStart(6)} ms  ${line}`,
    )
  }

  session(nth: number): WorldSession | null {
    return this.sessions.length === 0 ? null : (this.sessions[nth % this.sessions.length] as WorldSession)
  }

  /** The name a story uses. */
  nameOf(id: string): string {
    return `session ${this.sessions.findIndex((session) => session.id === id)}`
  }

  /** Once the schedule is over. */
  closePages(): void {
    for (const { socket } of this.sessions.flatMap(({ tabs }) => tabs)) socket.disconnect()
    for (const { viewers, looker } of this.sessions.flatMap(({ terminals }) => terminals)) {
      for (const viewer of [...viewers, ...(looker ? [looker] : [])]) viewer.close()
    }
  }

  died(who: Death["who"], how: string): void {
    this.deaths.push({ who, how })
    this.say(`† ${who}: ${how}`)
  }

  /** Kill points tell only by their file; looked at before anything is concluded. */
  async noteFired(isServerPoint: (point: string) => boolean): Promise<void> {
    const fired = await this.place.takeFired()
    if (!fired) return
    this.points.push(fired.point)
    const server = isServerPoint(fired.point)
    this.died(server ? "server" : "daemon", `at ${fired.point}, time ${fired.occurrence}`)
    if (fired.also) this.died(server ? "daemon" : "server", `together with the ${server ? "server" : "daemon"}`)
  }

  /** An answer of 500 is never right, whatever was killed. */
  judge(what: string, status: number | null, body: unknown): void {
    this.say(
      `  → ${status === null ? "no answer" : status}${status !== null && status >= 400 ? ` ${JSON.stringify(body).slice(0, 160)}` : ""}`,
    )
    if (status === 500) this.surprises.push(`${what} was answered 500: ${JSON.stringify(body).slice(0, 500)}`)
  }
}
