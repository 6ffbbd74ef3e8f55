import { readdirSync, readFileSync } from "node:fs"

/** Processes that tests started and did not end; recognised by a variable only this run has. */
export function endLeftBehind(mark) {
  if (process.platform !== "linux") return []
  const ended = []
  for (const pid of readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    if (pid === process.pid) continue
    try {
      if (!readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(mark)) continue
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()
      if (command === "") continue
      process.kill(pid, "SIGKILL")
      ended.push(`${pid} ${command.slice(0, 120)}`)
    } catch {
      // It ended by itself meanwhile, or belongs to someone else.
    }
  }
  return ended
}
