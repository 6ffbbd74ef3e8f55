// Named and timed steps: one line each, and the end of a step's output only when it failed.
import { spawn } from "node:child_process"
import { root } from "./project.mjs"

const SHOWN_LINES = 30
const NAME_WIDTH = 13

export class StepFailed extends Error {}

const running = new Set()
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }

/** Ends running steps and then this process when it is told to stop; returns the way to undo that. */
export function endStepsOnSignal(beforeExit = () => {}) {
  const handlers = Object.entries(SIGNALS).map(([signal, code]) => {
    const handler = async () => {
      for (const child of running) endGroup(child, signal)
      await beforeExit()
      process.exit(code)
    }
    process.once(signal, handler)
    return [signal, handler]
  })
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler)
  }
}

function endGroup(child, signal) {
  try {
    process.kill(-child.pid, signal)
  } catch (error) {
    if (error.code !== "ESRCH") throw error
  }
}

/** Prints steps to `stream`; scripts whose answer goes to stdout give stderr. */
export function createSteps(stream = process.stdout) {
  const write = (name, text) => stream.write(`  ${name.padEnd(NAME_WIDTH)} ${text}\n`)
  return {
    say: write,
    upToDate: (name) => write(name, "up to date"),
    /** Runs `work`, which may throw StepFailed with the lines to show. */
    async run(name, work) {
      const started = performance.now()
      if (stream.isTTY) stream.write(`  ${name.padEnd(NAME_WIDTH)} …\r`)
      try {
        const result = await work()
        write(name, seconds(performance.now() - started))
        return result
      } catch (error) {
        write(name, `failed after ${seconds(performance.now() - started)}`)
        throw error
      }
    },
    fail(error) {
      stream.write(`\n${error instanceof StepFailed ? error.message : (error.stack ?? error)}\n`)
    },
  }
}

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`

/** Runs a command with its output kept; a failing one throws StepFailed with the last lines of it. */
export async function runQuietly(command, args, options = {}) {
  const { code, signal, output } = await capture(command, args, options)
  if (code === 0) return output
  const ended = signal ? `was ended by ${signal}` : `ended with code ${code}`
  throw Object.assign(new StepFailed(`${lastLines(output)}\n${[command, ...args].join(" ")} ${ended}`), { output })
}

/** Runs a command to its end, whatever that is. */
export function capture(command, args, { onLine, onSpawn, timeoutMs, ...options } = {}) {
  return new Promise((resolve) => {
    // In a group of its own, so that ending it also ends what it started (compilers, browsers).
    const child = spawn(command, args, { cwd: root, ...options, stdio: ["ignore", "pipe", "pipe"], detached: true })
    running.add(child)
    onSpawn?.(child)
    const late = timeoutMs === undefined ? undefined : setTimeout(() => endGroup(child, "SIGKILL"), timeoutMs)
    let output = ""
    let rest = ""
    const take = (chunk) => {
      output += chunk
      if (!onLine) return
      const lines = (rest + chunk).split("\n")
      rest = lines.pop()
      for (const line of lines) onLine(line)
    }
    for (const pipe of [child.stdout, child.stderr]) pipe.setEncoding("utf8").on("data", take)
    child.on("exit", () => running.delete(child))
    child.on("error", (error) => resolve({ code: 127, signal: null, output: `${output}${error.message}\n` }))
    child.on("close", (code, signal) => {
      clearTimeout(late)
      if (rest !== "") onLine?.(rest)
      resolve({ code, signal, output })
    })
  })
}

export function lastLines(text, count = SHOWN_LINES) {
  return text.trimEnd().split("\n").slice(-count).join("\n")
}
