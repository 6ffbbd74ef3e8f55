import { appendFileSync, renameSync, statSync } from "node:fs"

/** Two files of this size are kept; older lines are gone. */
const MAX_LOG_BYTES = 4 * 1024 * 1024

type Fields = Record<string, string | number | boolean | null | undefined>
export interface Log {
  info(event: string, fields?: Fields): void
  warn(event: string, fields?: Fields): void
  error(event: string, error: unknown, fields?: Fields): void
}

/** JSON lines. Callers pass ids, counts and codes only: a prompt, an environment value or a secret written here would outlive its session. */
export function openLog(file: string, maxBytes = MAX_LOG_BYTES): Log {
  let size = 0
  try {
    size = statSync(file).size
  } catch {
    // The first line makes the file.
  }
  const write = (level: string, event: string, fields: Fields) => {
    const line = `${JSON.stringify({ ts: new Date().toISOString(), level, pid: process.pid, event, ...fields })}\n`
    try {
      if (size + line.length > maxBytes) {
        renameSync(file, `${file}.1`)
        size = 0
      }
      appendFileSync(file, line, { mode: 0o600 })
      size += Buffer.byteLength(line)
    } catch {
      // A full disk must not take the agents down with the log.
    }
  }
  return {
    info: (event, fields = {}) => write("info", event, fields),
    warn: (event, fields = {}) => write("warn", event, fields),
    error: (event, error, fields = {}) =>
      write("error", event, {
        ...fields,
        message: error instanceof Error ? error.message.slice(0, 500) : String(error).slice(0, 500),
        stack: error instanceof Error ? error.stack?.split("\n").slice(1, 6).join("\n") : undefined,
      }),
  }
}

export const silentLog: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }
