import { type AppError, type ErrorDetails, isAppError } from "@/lib/contracts/errors"
import { formatBytes } from "./format"

const details = <C extends keyof ErrorDetails>(error: AppError) => error.details as Partial<ErrorDetails[C]>

/** What happened, what was kept and what to do, in one or two sentences. */
export function errorSentence(error: unknown): string {
  if (!isAppError(error)) return error instanceof Error ? error.message : "Something went wrong."
  switch (error.code) {
    case "PAYLOAD_TOO_LARGE": {
      const limit = details<"PAYLOAD_TOO_LARGE">(error).limit_bytes
      return `This message is too long${limit ? `: at most ${formatBytes(limit)} can be sent at once` : ""}.`
    }
    case "RATE_LIMITED": {
      const seconds = details<"RATE_LIMITED">(error).retry_after_seconds
      return `Too many requests. Try again ${seconds ? `in ${seconds} s` : "in a moment"}.`
    }
    case "QUEUE_FULL": {
      const limit = details<"QUEUE_FULL">(error).limit
      return `The queue is full${limit ? ` (${limit} messages)` : ""}. Wait for the agent, or withdraw one.`
    }
    case "WORKSPACE_NOT_FOUND":
      return `There is no git repository at ${details<"WORKSPACE_NOT_FOUND">(error).path ?? "this path"}. Check the path and try again.`
    case "WORKSPACE_NOT_ALLOWED":
      return `${details<"WORKSPACE_NOT_ALLOWED">(error).path ?? "This path"} is outside the folders this server may use.`
    case "AGENT_UNAVAILABLE":
      return `${error.message} Choose another agent.`
    case "SESSION_NOT_RESUMABLE":
      return "This agent doesn't support resuming. Start a new session."
    case "SESSION_TERMINAL":
      return "This session has ended. Start a new one to go on."
    case "TASK_EXPIRED_RESTORABLE":
      return "This task was put away after being unused. Your message is kept here."
    case "NOT_READY":
      return `${error.message} Try again in a moment.`
    case "PROMPT_NOT_QUEUED":
      return "This message is already on its way to the agent."
    case "RESUME_TOKEN_REJECTED":
      return details<"RESUME_TOKEN_REJECTED">(error).reason === "consumed"
        ? "This was answered already, in another window."
        : "This can no longer be answered."
    case "INVALID_INPUT":
      return details<"INVALID_INPUT">(error).issues?.join(". ") || error.message
    default:
      return error.message
  }
}
