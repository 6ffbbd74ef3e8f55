import type { ExecutorRunning } from "../platform/database"
import type { AgentctlClient } from "./agentctl-client"

export type PlacedExecutor = Pick<ExecutorRunning, "session_id" | "place_id" | "agentctl_instance_id">

/** `unknown`: something lives there and does not answer. Nothing may be started, ended or deleted in its place. */
export type Probe = { kind: "alive"; client: AgentctlClient } | { kind: "unknown"; why: string } | { kind: "dead"; why: string }

/** A kind of place agents run in. One file per runtime; the coordinator knows only this. */
export type Executor = {
  /** Where it starts daemons. Null: no daemon of its is bound to one server. */
  place_id: string | null
  /** Whether this server is at the session's place. One that is not must not act for the session, nor say what became of it. */
  isHere(executor: PlacedExecutor): boolean
  /** Finds the daemon of this place or starts one; answers when it is healthy. */
  launch(executor: ExecutorRunning): Promise<AgentctlClient>
  /** Finds it if it lives; never starts anything. */
  reconnect(executor: ExecutorRunning): Promise<AgentctlClient | null>
  probe(executor: ExecutorRunning): Promise<Probe>
  /** Politely ends the whole place. */
  stop(executor: ExecutorRunning): Promise<void>
}

export class LaunchFailed extends Error {
  constructor(
    /** `unreachable`, `launch_failed`, `runtime_unavailable`, `workspace_missing`, or why an archive could not be unpacked. */
    readonly reason: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
