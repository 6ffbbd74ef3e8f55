import { spawn } from "node:child_process"
import { root } from "./project.mjs"

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"]
/** Ctrl-C reaches this process from the terminal and again from npm; the server should hear of it once. */
const SAME_SIGNAL_MS = 1000

/** Runs a program in the foreground, hands signals on to it, and ends as it ends, after `beforeExit`. */
export function runInForeground(command, args, env = process.env, beforeExit = async () => {}) {
  const child = spawn(command, args, { cwd: root, env, stdio: "inherit" })
  const lastSent = new Map()
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      if (Date.now() - (lastSent.get(signal) ?? 0) < SAME_SIGNAL_MS) return
      lastSent.set(signal, Date.now())
      child.kill(signal)
    })
  }
  child.on("error", (error) => {
    console.error(error.message)
    process.exit(1)
  })
  child.on("exit", async (code, signal) => {
    await beforeExit()
    if (signal === null) process.exit(code ?? 1)
    for (const name of FORWARDED) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}
