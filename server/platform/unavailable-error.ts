import { AppError } from "../../lib/contracts/errors"
import { storageErrorOf } from "./storage-trouble"

/** By its name, because the server and Next's bundles each load their own copy of a class. */
const isDaemonSilence = (error: unknown) => error instanceof Error && error.name === "DaemonUnreachable"

/** What a request is told when something the server depends on did not do its part; null for any other error. */
export const unavailableError = (error: unknown): AppError | null =>
  storageErrorOf(error) ?? (isDaemonSilence(error) ? executorUnreachable({ cause: error }) : null)

/** The daemon's own words, which name what it was about to write. */
export const executorDiskFull = (message: string, options: ErrorOptions = {}) =>
  new AppError("STORAGE_FULL", `${message} What was there is kept. Free some space, then try again.`, {}, options)

export const executorUnreachable = (options: ErrorOptions = {}) =>
  new AppError(
    "EXECUTOR_UNREACHABLE",
    "The executor of this session does not answer. The transcript, the queue and the files are kept. Try again in a moment.",
    {},
    options,
  )
