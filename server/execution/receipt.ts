import type { EventOf, NewEvent } from "../../lib/contracts/events"
import type { ExecutionDeps } from "./context"

type Receipt = Omit<Extract<NewEvent, { kind: "recovery.receipt" }>, "kind" | "messages" | "queue">

/** The itemised result of a recover or resume, from what was observed. */
export async function receipt(deps: ExecutionDeps, sessionId: string, observed: Receipt): Promise<NewEvent> {
  const [messages, queue] = await Promise.all([
    deps.db.sessionEvent.count({ where: { session_id: sessionId, kind: { in: ["message.user", "message.agent"] } } }),
    deps.db.prompt.count({ where: { session_id: sessionId, state: { in: ["queued", "held"] } } }),
  ])
  return { kind: "recovery.receipt", ...observed, messages, queue }
}

export type Attempt = EventOf<"recovery.receipt">["attempts"][number]
