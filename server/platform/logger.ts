import pino from "pino"

/** Secrets never reach a log: these names are cut wherever they appear in a logged object. */
const SECRETS = ["password", "secret", "token", "authorization", "cookie", "content", "message_text", "env", "code"]
const redact = SECRETS.flatMap((name) => ["", "*.", "*.*.", "*.*.*."].map((depth) => `${depth}${name}`))

export const createLogger = (level: string, destination: pino.DestinationStream = pino.destination(1)) =>
  pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: { paths: redact, censor: "[cut]" } }, destination)
export type Logger = ReturnType<typeof createLogger>
