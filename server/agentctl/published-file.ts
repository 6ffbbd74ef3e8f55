import { mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { dirname } from "node:path"
import type { AgentctlFile } from "../../lib/contracts/agentctl/protocol"
import { DURATIONS } from "../../lib/host/durations"
import { writePrivateFile } from "../../lib/host/write-private-file"
import type { Log } from "./log"

/**
 * The file by which servers find this daemon, kept as it was written for as long as the daemon holds its folder: while it is
 * damaged or missing, agents live and no server reaches them.
 */
export function publish(path: string, file: AgentctlFile, holdsFolder: () => boolean, log: Log): { end(): void } {
  const content = JSON.stringify(file)
  const isAsWritten = () => {
    try {
      return readFileSync(path, "utf8") === content
    } catch {
      return false
    }
  }
  const write = () => {
    // A file cannot be renamed onto a folder.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) renameSync(path, `${path}.broken-${Date.now()}`)
    writePrivateFile(path, content)
  }
  let failed = false
  const check = () => {
    if (isAsWritten()) return
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      // Another daemon has the folder since its lock was deleted: the file is that one's.
      if (!holdsFolder()) throw new Error("another daemon holds the folder")
      write()
      log.warn("daemon.published_again")
      failed = false
    } catch (error) {
      if (!failed) log.error("daemon.not_published", error)
      failed = true
    }
  }
  write()
  const timer = setInterval(check, DURATIONS.publishedCheckMs)
  return {
    end() {
      clearInterval(timer)
      if (isAsWritten()) rmSync(path, { force: true })
    },
  }
}
