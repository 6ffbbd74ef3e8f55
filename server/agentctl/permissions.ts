import { randomUUID } from "node:crypto"
import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk"
import type { Outcome } from "../../lib/contracts/waits"
import { killPoint } from "../../lib/host/kill-point"
import { describeInput } from "./acp/updates"
import { Failure } from "./failure"
import type { Recorder } from "./recorder"

interface Pending {
  options: string[]
  settle(outcome: Outcome): void
  /** Resolves when the agent has been given the answer. */
  answered: Promise<void>
}

/** What an agent is waiting to be told. Nothing here ever answers by itself, except `cancelled` for a turn that is being cancelled. */
export class Permissions {
  private readonly pending = new Map<string, Pending>()
  private readonly settled = new Map<string, { outcome: Outcome; recorded: Promise<void> }>()

  constructor(private readonly recorder: Recorder) {}

  ids(): string[] {
    return [...this.pending.keys()]
  }

  /** Pending for as long as it takes, days if need be. */
  ask(request: RequestPermissionRequest, answered: Promise<void>): Promise<RequestPermissionResponse> {
    const id = `perm_${randomUUID()}`
    const { toolCall, options } = request
    return new Promise((resolve) => {
      this.pending.set(id, { options: options.map((o) => o.optionId), settle: (outcome) => resolve(toAnswer(outcome)), answered })
      this.recorder.record({
        kind: "permission.requested",
        run_id: this.recorder.runId,
        permission_id: id,
        tool_call_id: toolCall.toolCallId ?? null,
        title: toolCall.title ?? this.recorder.titleOf(toolCall.toolCallId) ?? "The agent asks for permission",
        detail: describeInput(toolCall.rawInput),
        options: options.map((o) => ({ id: o.optionId, label: o.name, kind: o.kind })),
      })
    })
  }

  /** The outcome that stands: the first one given. */
  async answer(id: string, outcome: Outcome): Promise<Outcome> {
    const pending = this.pending.get(id)
    if (pending) {
      if (outcome.kind === "selected" && !pending.options.includes(outcome.option_id)) {
        throw new Failure("INVALID_INPUT", "That option was not offered.")
      }
      this.pending.delete(id)
      const recorded = pending.answered.then(() => this.recorder.record({ kind: "permission.resolved", permission_id: id, outcome }))
      this.settled.set(id, { outcome, recorded })
      pending.settle(outcome)
      killPoint("permission.settled")
    }
    const settled = this.settled.get(id)
    if (!settled) throw new Failure("NOT_FOUND", "No such permission is pending.")
    await settled.recorded
    return settled.outcome
  }

  async cancelAll(): Promise<void> {
    await Promise.all(this.ids().map((id) => this.answer(id, { kind: "cancelled" })))
  }

  /** The agent is gone; there is nobody left to tell. */
  abandon(): void {
    this.pending.clear()
  }
}

const toAnswer = (outcome: Outcome): RequestPermissionResponse => ({
  outcome: outcome.kind === "selected" ? { outcome: "selected", optionId: outcome.option_id } : { outcome: "cancelled" },
})
