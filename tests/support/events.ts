import { type EventOf, isTerminalKind, type SessionEvent } from "../../lib/contracts/events"

/** The events of one kind, with their type. */
export const ofKind = <K extends SessionEvent["kind"]>(log: readonly SessionEvent[], kind: K): EventOf<K>[] =>
  log.filter((event): event is EventOf<K> => event.kind === kind)

/** How the runs of a log ended, in order. */
export const endsOf = (log: readonly SessionEvent[]) => log.filter((event) => isTerminalKind(event.kind)).map((event) => event.kind)
