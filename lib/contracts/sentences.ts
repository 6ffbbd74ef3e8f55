import type { InterruptionReason } from "./status"

/** Words that browsers show; apart from the schemas, so that a page need not load the validator. */

/** What each interruption means to the person reading the page. */
export const interruptionSentence: Record<InterruptionReason, string> = {
  process_restart: "This run was interrupted when the server restarted.",
  executor_lost: "This run was interrupted: its executor went away.",
  delivery_uncertain: "It is uncertain whether the agent received your last message. Nothing was sent twice.",
  wait_timeout: "Nobody answered in time, so the run was ended.",
  token_invalid: "The question of this run can no longer be answered.",
  abandoned: "This run was given up because its executor could not be reached.",
}

const held: Record<string, string> = {
  backup_restored: "The server's data was restored from a backup. The agent may have had this message already.",
  imported: "This session was imported. The agent may have had this message already.",
  unreadable: "It cannot be read in the database any more. The agent has not had it. Withdraw it and send it again.",
  access_lost: "It was waiting when you were not allowed to run agents here. The agent has not had it.",
}
/** Why a message waits for a person's word. */
export const heldSentence = (reason: string): string =>
  (Object.hasOwn(held, reason) ? held[reason] : undefined) ?? "The agent may have had this message already."
