import pino from "pino"

/** Secrets never reach a log: these names are cut wherever they appear in a logged object. */
const redact = ["password", "secret", "token", "authorization", "cookie", "content", "message_text", "env", "code"].flatMap((name) => [
  name,
  `*.${name}`,
])

export const createLogger = (level: string) =>
  pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: { paths: redact, censor: "[cut]" } })
export type Logger = ReturnType<typeof createLogger>
