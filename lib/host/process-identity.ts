import { execFileSync } from "node:child_process"
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"

/**
 * Names one life of one pid. Pids are reused: without the start time, a stranger's process would pass for the daemon
 * that died, and be waited for or killed. Null when no such process lives; a zombie has ended.
 */
export function processStartTime(pid: number): string | null {
  if (process.platform !== "linux") return startTimeFromPs(pid)
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The command name may hold spaces and brackets; the fields start after its last bracket.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    if (fields[0] === "Z" || fields[0] === "X") return null
    const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
    return `${bootId}:${fields[19]}`
  } catch {
    return null
  }
}

function startTimeFromPs(pid: number): string | null {
  try {
    return (
      execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } }).trim() || null
    )
  } catch {
    return null
  }
}

export const isSameProcess = (pid: number, startTime: string): boolean => processStartTime(pid) === startTime

/**
 * Where pids mean what they mean here: this kernel's life and this PID namespace. Two containers, or two machines with one hostname,
 * would otherwise take each other's living processes for dead.
 */
export function processScope(): string {
  if (process.platform !== "linux") return hostname()
  return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}/${readlinkSync("/proc/self/ns/pid")}`
}
