// Pids are reused: a process is the same one only if its start time is the same as well.
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

/** Names one life of one pid; null when it has ended. */
export function startTimeOf(pid) {
  try {
    if (process.platform !== "linux") {
      return (
        execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim() || null
      )
    }
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The command's name may hold spaces and brackets; the fields start after its last bracket.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return fields[0] === "Z" || fields[0] === "X" ? null : fields[19]
  } catch {
    return null
  }
}
